import type { CSIStorageCapacity } from '../../kube/api/storage.ts';
import { parseTimestamp } from '../../kube/go/timestamp.ts';
import { bytesOf } from '../../kube/quantities/bytes.ts';
import { csiNodes, csiStorageCapacities, persistentVolumes } from '../../kube/resources.ts';
import { volumeExistsAtMs } from '../../kube/volumes.ts';
import { annotations, labels } from '../../kube/well-known.ts';
import type { Invariant, RestFacts } from './invariant.ts';
import type { StoredObjects } from './stored-objects.ts';

const figures = 'csistoragecapacities.storage.k8s.io';

/** A promise ends with a figure that was measured after the volume existed. A figure that pretends to be newer would end it too early. */
export const capacityReportsAreMeasured: Invariant = {
  name: 'a published figure is what the driver said, and not earlier than the figure says',
  onVersion: ({ resource, key, after }, _, storage) => {
    if (resource !== figures || after === undefined || isForeign(after) || storage === undefined)
      return undefined;
    const bytes = freeBytesOf(after);
    const measuredMs = measuredMsOf(after);
    return storage.wasMeasured(nodeOf(after), bytes, measuredMs)
      ? undefined
      : `${key}: ${bytes} bytes at ${new Date(measuredMs).toISOString()}, which the driver did not say then`;
  },
};

export const foreignCapacityReportsStay: Invariant = {
  name: 'the figures of other publishers are neither changed nor removed',
  onVersion: ({ resource, key, before }) =>
    resource === figures && before !== undefined && isForeign(before)
      ? `${key} belongs to others`
      : undefined,
};

export const capacityReportsAreCurrent: Invariant = {
  name: 'when the system is at rest, every node with the driver has one figure, which is true and newer than its volumes',
  atRest: (state, facts) => {
    const registered = new Set([...state.values(csiNodes)].map(({ metadata }) => metadata?.name ?? ''));
    // As long as the driver is registered nowhere, nothing is known, and figures stay.
    if (registered.size === 0) return [];
    const own = [...state.values(csiStorageCapacities)].filter((figure) => !isForeign(figure));
    const obsolete = own.filter((figure) => !registered.has(nodeOf(figure)));
    return [
      ...obsolete.map((figure) => `${nodeOf(figure)} has a figure and no driver`),
      ...[...registered].flatMap((node) => {
        const [figure, ...copies] = own.filter((each) => nodeOf(each) === node);
        if (figure === undefined || copies.length > 0)
          return [`${node} has ${copies.length} copies of a figure, or none`];
        return problemsOf(figure, state, facts);
      }),
    ];
  },
};

function problemsOf(figure: CSIStorageCapacity, state: StoredObjects, facts: RestFacts): readonly string[] {
  const node = nodeOf(figure);
  const free = facts.freeBytes(node);
  const isWrong = freeBytesOf(figure) !== free;
  const later = [...state.values(persistentVolumes)].filter(
    (volume) =>
      volume.spec?.csi?.volumeAttributes?.node === node &&
      (volumeExistsAtMs(volume) ?? 0) >= measuredMsOf(figure),
  );
  return [
    ...(isWrong ? [`the figure of ${node} is ${freeBytesOf(figure)}, and ${free} bytes are free`] : []),
    ...later.map(({ metadata }) => `the figure of ${node} is older than volume ${metadata?.name}`),
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
