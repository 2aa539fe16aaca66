import type { Condition, Timestamp } from '../../../kube/api/meta.ts';
import { setCondition } from '../../../kube/conditions.ts';
import type {
  StorageDiskStatus,
  StorageNode,
  StorageNodeStatus,
} from '../../../kube/stowage/storage-node.ts';
import type { DiskProbe } from '../files/probe-disk.ts';
import type { DiskUsage } from './disk-usage.ts';

export interface DiskReport {
  /** The probe of each disk by its name. */
  readonly probes: ReadonlyMap<string, DiskProbe>;
  /** The usage of each disk that can be used. */
  readonly usages: ReadonlyMap<string, DiskUsage>;
  readonly upload: StorageNodeStatus['upload'];
  /** The Lease that the agent renews; undefined before the first renewal. */
  readonly agentLease: string | undefined;
  /** From the labels of the Node; undefined without a Node. */
  readonly place: Pick<StorageNodeStatus, 'region' | 'zone'> | undefined;
}

const mebibyte = 2 ** 20;
/** Small changes of the free bytes are not worth a write. */
const granuleBytes = 100 * mebibyte;
/** Below this, a granule would hide too much of the disk. */
const smallDiskBytes = 10 * 1024 * mebibyte;
/** Names of orphans that fit into a message. */
const orphansShownMax = 10;

/** The status that a node with these disks has. Fields that the agent does not know stay as they are. */
export function reportedStatus(
  { metadata, status }: StorageNode,
  { probes, usages, upload, place, agentLease }: DiskReport,
  now: Timestamp,
): StorageNodeStatus {
  const { upload: _upload, region, zone, ...before } = status ?? {};
  const known = { ...(region !== undefined && { region }), ...(zone !== undefined && { zone }) };
  const diskStatus = Object.fromEntries(
    [...probes].map(([name, probe]) => [
      name,
      diskEntry({ name, probe, usage: usages.get(name) }, { before: status?.diskStatus?.[name], now }),
    ]),
  );
  return {
    ...before,
    ...(place ?? known),
    ...(upload !== undefined && { upload }),
    ...(agentLease !== undefined && { agentLease }),
    observedGeneration: Number(metadata?.generation ?? 0),
    diskStatus,
    conditions: setCondition(status?.conditions, nodeCondition(probes), now),
  };
}

interface FoundDisk {
  readonly name: string;
  readonly probe: DiskProbe;
  readonly usage: DiskUsage | undefined;
}

/** A disk that does not answer keeps its figures. */
function diskEntry(
  { name, probe, usage }: FoundDisk,
  { before, now }: { readonly before: StorageDiskStatus | undefined; readonly now: Timestamp },
): StorageDiskStatus {
  if (probe.kind === 'problem') {
    const { reason, message } = probe;
    const { diskUUID: _twin, ...figures } = before ?? {};
    // The UUID of two disks belongs to the first one.
    const kept = reason === 'DuplicateUUID' ? figures : before;
    const notReady: Condition = {
      type: 'Ready',
      status: 'False',
      reason,
      message: `Disk ${name}: ${message}`,
    };
    return { ...kept, conditions: setCondition(before?.conditions, notReady, now) };
  }
  const { uuid, totalBytes, freeBytes, filesystemType } = probe;
  const ready: Condition = {
    type: 'Ready',
    status: 'True',
    reason: 'DiskAnswers',
    message: `Disk ${name} answers`,
  };
  const conditions = setCondition(before?.conditions, ready, now);
  return {
    diskUUID: uuid,
    storageMaximum: totalBytes,
    storageAvailable: Math.min(totalBytes, roundedDown(freeBytes + (usage?.ownBytes ?? 0), totalBytes)),
    filesystemType,
    conditions: withOrphans(conditions, usage?.orphans ?? [], now),
  };
}

function roundedDown(bytes: number, totalBytes: number): number {
  const granule = totalBytes < smallDiskBytes ? mebibyte : granuleBytes;
  return Math.floor(bytes / granule) * granule;
}

/** The condition is there once there was an orphan. */
function withOrphans(
  conditions: readonly Condition[],
  orphans: readonly string[],
  now: Timestamp,
): readonly Condition[] {
  const type = 'OrphanedData';
  if (orphans.length > 0)
    return setCondition(
      conditions,
      { type, status: 'True', reason: 'OwnerMissing', message: orphanMessage(orphans) },
      now,
    );
  if (!conditions.some((each) => each.type === type)) return conditions;
  const message = 'Every folder has an owner';
  return setCondition(conditions, { type, status: 'False', reason: 'NoOrphans', message }, now);
}

function orphanMessage(orphans: readonly string[]): string {
  const shown = orphans.slice(0, orphansShownMax).join(', ');
  const rest = orphans.length > orphansShownMax ? ` and ${orphans.length - orphansShownMax} more` : '';
  return `No Replica or BackingImage has the data in ${shown}${rest}; it is not counted as available, and is never removed: look at it, and remove it by hand`;
}

function nodeCondition(probes: ReadonlyMap<string, DiskProbe>): Condition {
  const type = 'Ready';
  const failing = [...probes].filter(([, { kind }]) => kind === 'problem').map(([name]) => name);
  if (failing.length === 0)
    return { type, status: 'True', reason: 'DisksAnswer', message: 'The agent runs, and every disk answers' };
  const message = `Disks that can't be used: ${failing.join(', ')}; status.diskStatus says why`;
  // A node that is not ready closes all of its disks, and those that answer can be used.
  return failing.length < probes.size
    ? { type, status: 'True', reason: 'SomeDisksNotReady', message }
    : { type, status: 'False', reason: 'DisksNotReady', message };
}
