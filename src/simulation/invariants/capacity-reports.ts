import type { CSIStorageCapacity } from '../../kube/api/storage.ts';
import { parseTimestamp } from '../../kube/go/timestamp.ts';
import { bytesOf } from '../../kube/quantities/bytes.ts';
import { csiNodes, csiStorageCapacities, persistentVolumes } from '../../kube/resources.ts';
import { volumeExistsAtMs } from '../../kube/volumes.ts';
import { annotations, labels } from '../../kube/well-known.ts';
import type { Invariant, RestFacts } from './invariant.ts';
import type { StoredObjects } from './stored-objects.ts';

const reports = 'csistoragecapacities.storage.k8s.io';

/** A promise ends with a capacity report that was measured after the volume existed. A capacity report that pretends to be newer would end it too early. */
export const capacityReportsAreMeasured: Invariant = {
  name: 'a published capacity report is what the driver said, and not earlier than the capacity report says',
  onVersion: ({ resource, key, after }, _, storage) => {
    if (resource !== reports || after === undefined || isForeign(after) || storage === undefined)
      return undefined;
    const bytes = freeBytesOf(after);
    const measuredMs = measuredMsOf(after);
    return storage.wasMeasured(nodeOf(after), bytes, measuredMs)
      ? undefined
      : `${key}: ${bytes} bytes at ${new Date(measuredMs).toISOString()}, which the driver did not say then`;
  },
};

export const foreignCapacityReportsStay: Invariant = {
  name: 'the capacity reports of other publishers are neither changed nor removed',
  onVersion: ({ resource, key, before }) =>
    resource === reports && before !== undefined && isForeign(before)
      ? `${key} belongs to others`
      : undefined,
};

export const capacityReportsAreCurrent: Invariant = {
  name: 'when the system is at rest, every node with the driver has one capacity report, which is true and newer than its volumes',
  atRest: (state, facts) => {
    const registered = new Set([...state.values(csiNodes)].map(({ metadata }) => metadata?.name ?? ''));
    // As long as the driver is registered nowhere, nothing is known, and capacity reports stay.
    if (registered.size === 0) return [];
    const own = [...state.values(csiStorageCapacities)].filter((report) => !isForeign(report));
    const obsolete = own.filter((report) => !registered.has(nodeOf(report)));
    return [
      ...obsolete.map((report) => `${nodeOf(report)} has a capacity report and no driver`),
      ...[...registered].flatMap((node) => {
        const [report, ...copies] = own.filter((each) => nodeOf(each) === node);
        if (report === undefined || copies.length > 0)
          return [`${node} has ${copies.length} copies of a capacity report, or none`];
        return problemsOf(report, state, facts);
      }),
    ];
  },
};

function problemsOf(report: CSIStorageCapacity, state: StoredObjects, facts: RestFacts): readonly string[] {
  const node = nodeOf(report);
  const free = facts.freeBytes(node);
  const isWrong = freeBytesOf(report) !== free;
  const later = [...state.values(persistentVolumes)].filter(
    (volume) =>
      volume.spec?.csi?.volumeAttributes?.node === node &&
      (volumeExistsAtMs(volume) ?? 0) >= measuredMsOf(report),
  );
  return [
    ...(isWrong
      ? [`the capacity report of ${node} is ${freeBytesOf(report)}, and ${free} bytes are free`]
      : []),
    ...later.map(({ metadata }) => `the capacity report of ${node} is older than volume ${metadata?.name}`),
  ];
}

/** The object of the base cluster that another publisher wrote. */
function isForeign({ metadata }: CSIStorageCapacity): boolean {
  return metadata?.labels?.[labels.managedBy] !== 'stowage';
}

function nodeOf({ nodeTopology }: CSIStorageCapacity): string {
  return nodeTopology?.matchLabels?.[labels.hostname] ?? '';
}

function freeBytesOf({ capacity }: CSIStorageCapacity): number {
  return Number(bytesOf(capacity));
}

function measuredMsOf({ metadata }: CSIStorageCapacity): number {
  return parseTimestamp(metadata?.annotations?.[annotations.measuredAt]) ?? Number.POSITIVE_INFINITY;
}
