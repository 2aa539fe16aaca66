import type { DriveRecord } from '../../engine/drives/drive-record.ts';
import type { JsonPatchOperation, Patch } from '../../kube/api-requests.ts';
import { withPreconditions } from '../../kube/patch-preconditions.ts';
import { type DriveVolume, driveProtectionFinalizer } from '../../kube/stowage/drive.ts';

/*
 * Writes to a drive's ledger. Each carries the uid and version of the record that it was decided on: a drive that was cordoned, lost, filled or
 * replaced meanwhile refuses it with `Conflict`. The API server itself refuses a sum above the capacity.
 */

/** Adds an entry. Only the entry is sent, however long the ledger is. */
export function claimPatch(record: DriveRecord, entry: DriveVolume): Patch {
  const operations: JsonPatchOperation[] = [
    { op: 'replace', path: '/metadata/uid', value: record.uid },
    { op: 'replace', path: '/metadata/resourceVersion', value: record.version },
    record.hasLedger
      ? { op: 'add', path: '/spec/volumes/-', value: entry }
      : { op: 'add', path: '/spec/volumes', value: [entry] },
  ];
  if (!record.finalizers.includes(driveProtectionFinalizer))
    operations.push({
      op: 'add',
      path: '/metadata/finalizers',
      value: [...record.finalizers, driveProtectionFinalizer],
    });
  return { type: 'json', operations };
}

/** Removes an entry: its bytes are free. The last one takes the finalizer with it. */
export function removalPatch(record: DriveRecord, volume: string): Patch {
  const volumes = record.volumes.filter(({ name }) => name !== volume);
  const finalizers = record.finalizers.filter((one) => one !== driveProtectionFinalizer);
  return versioned(record, {
    ...(volumes.length === 0 && { metadata: { finalizers } }),
    spec: { volumes },
  });
}

/** Changes one entry. */
export function entryPatch(record: DriveRecord, volume: string, change: Partial<DriveVolume>): Patch {
  const volumes = record.volumes.map((entry) => (entry.name === volume ? { ...entry, ...change } : entry));
  return versioned(record, { spec: { volumes } });
}

function versioned({ uid, version }: DriveRecord, change: object): Patch {
  return { type: 'merge', body: withPreconditions({ metadata: { uid, resourceVersion: version } }, change) };
}
