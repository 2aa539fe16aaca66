import { getCondition } from '../../kube/conditions.ts';
import { backingImages } from '../../kube/disks/backing-image.ts';
import { type DiskSchedule, diskSchedules } from '../../kube/disks/disk-schedule.ts';
import { hasReplicaData, type Replica, replicas } from '../../kube/disks/replica.ts';
import { belongsTo } from '../../kube/disks/replica-volume.ts';
import { type StorageNode, storageNodes } from '../../kube/disks/storage-node.ts';
import { diskVolumes } from '../../kube/disks/volume.ts';
import { ownValue } from '../../kube/go/json-value.ts';
import type { Invariant } from './invariant.ts';
import type { StoredObjects } from './stored-objects.ts';

/** Expansions that were refused are tried again and again, which is no sign that something is wrong. */
export const disksComeToRest: Invariant = {
  name: 'when faults have stopped, disks come to rest, except for refused expansions, which are tried again',
  atRest: (state, { lateVersions }) => {
    const isRetrying = [...state.values(diskVolumes)].some(
      ({ spec, status }) => status?.size !== undefined && (spec?.size ?? 0) > status.size,
    );
    if (isRetrying || lateVersions.length === 0) return [];
    return [`${lateVersions.length} late versions, first ${lateVersions[0]}`];
  },
};

/** Simpler than the plan: it looks at one replica at a time, at nodes that the volume does not use yet. */
export const roomIsUsed: Invariant = {
  name: 'when the system is at rest, no replica waits while a disk has room for it',
  atRest: (state) =>
    [...state.values(diskVolumes)].flatMap((volume) => {
      const { metadata, spec } = volume;
      if (metadata?.deletionTimestamp !== undefined) return [];
      const own = [...state.values(replicas)].filter(
        (replica) => belongsTo(replica, volume) && replica.metadata?.deletionTimestamp === undefined,
      );
      const used = new Set(own.map((replica) => replica.spec?.nodeID));
      const size = Math.max(0, ...own.map((replica) => replica.spec?.volumeSize ?? 0)) || (spec?.size ?? 0);
      const imageBytes = spec?.backingImage === undefined ? 0 : imageSize(spec.backingImage, state);
      if (imageBytes === undefined) return [];
      return own
        .filter((replica) => !hasReplicaData(replica) && grantedTo(replica, state) === 0)
        .flatMap((replica) =>
          [...state.values(diskSchedules)]
            .filter((schedule) => isOpen(schedule, state) && !used.has(schedule.spec?.nodeID))
            .filter(
              ({ status }) =>
                (status?.storageLimit ?? 0) - (status?.storageScheduled ?? 0) >= size + imageBytes,
            )
            .map(
              (schedule) =>
                `${replica.metadata?.name} waits for ${size} bytes, and ${schedule.metadata?.name} has them`,
            ),
        );
    }),
};

/** A disk may need it for a copy, unless it has one. Undefined if it is not known: then nothing is said about the volume. */
function imageSize(name: string, state: StoredObjects): number | undefined {
  const { spec, status } = state.get(backingImages, name) ?? {};
  return status?.size ?? spec?.expectedSize;
}

function grantedTo({ metadata, spec }: Replica, state: StoredObjects): number {
  const schedule = state.get(diskSchedules, spec?.diskID ?? '');
  return ownValue(schedule?.status?.replicas, metadata?.name ?? '')?.scheduledSize ?? 0;
}

/** Whether new requests may be granted there. */
function isOpen({ metadata, spec }: DiskSchedule, state: StoredObjects): boolean {
  const node: StorageNode | undefined = state.get(storageNodes, spec?.nodeID ?? '');
  const name = spec?.name ?? '';
  const disk = ownValue(node?.spec?.disks, name);
  const reported = ownValue(node?.status?.diskStatus, name);
  if (node === undefined || disk === undefined || reported?.diskUUID !== metadata?.name) return false;
  const flags = [node.spec, disk];
  return (
    flags.every((each) => each?.allowScheduling !== false && each?.evictionRequested !== true) &&
    getCondition(reported?.conditions, 'Ready')?.status === 'True' &&
    metadata?.deletionTimestamp === undefined
  );
}
