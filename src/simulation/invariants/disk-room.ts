import { copyBytes } from '../../engine/disks/images/may-make-copy.ts';
import { getCondition } from '../../kube/conditions.ts';
import { ownValue } from '../../kube/go/json-value.ts';
import { backingImages } from '../../kube/stowage/backing-image.ts';
import { type DiskSchedule, diskSchedules } from '../../kube/stowage/disk-schedule.ts';
import { hasReplicaData, type Replica, replicas } from '../../kube/stowage/replica.ts';
import { belongsTo } from '../../kube/stowage/replica-volume.ts';
import { type StorageNode, storageNodes } from '../../kube/stowage/storage-node.ts';
import { diskVolumes } from '../../kube/stowage/volume.ts';
import type { Invariant } from './invariant.ts';
import type { StoredObjects } from './stored-objects.ts';

/** Refused expansions rest, too: only a disk that gains free bytes causes another attempt. */
export const disksComeToRest: Invariant = {
  name: 'when faults have stopped, disks settle, also those that refused an expansion',
  atRest: (_, { lateVersions }) =>
    lateVersions.length === 0 ? [] : [`${lateVersions.length} late versions, first ${lateVersions[0]}`],
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
            .filter((schedule) => freeBytes(schedule) >= size + imageBytes)
            .map(
              (schedule) =>
                `${replica.metadata?.name} waits for ${size} bytes, and ${schedule.metadata?.name} has them`,
            ),
        );
    }),
};

/** Simpler than the plan: each disk has free bytes for the growth of all replicas of the volume. */
export const grantableExpansionsAreGranted: Invariant = {
  name: 'when the system is at rest, no expansion is refused while every disk of the volume has free bytes for it',
  atRest: (state) =>
    [...state.values(diskVolumes)].flatMap((volume) => {
      const { metadata, spec, status } = volume;
      if (getCondition(status?.conditions, 'DiskAllocation')?.reason !== 'ExpansionRejected') return [];
      const own = [...state.values(replicas)].filter((replica) => belongsTo(replica, volume));
      const needed = own.length * ((spec?.size ?? 0) - (status?.size ?? 0));
      const schedules = own.map((replica) => state.get(diskSchedules, replica.spec?.diskID ?? ''));
      const isGrantable = schedules.every(
        (schedule) => schedule !== undefined && isAnswering(schedule, state) && freeBytes(schedule) >= needed,
      );
      return isGrantable
        ? [`${metadata?.name} waits for ${needed} bytes, and all of its disks have them`]
        : [];
    }),
};

function freeBytes({ status }: DiskSchedule): number {
  return (status?.storageLimit ?? 0) - (status?.storageScheduled ?? 0);
}

/** A disk may need it for a copy, unless it has one. Undefined if it is not known: then nothing is said about the volume. */
function imageSize(name: string, state: StoredObjects): number | undefined {
  const image = state.get(backingImages, name);
  return image && copyBytes(image);
}

function grantedTo({ metadata, spec }: Replica, state: StoredObjects): number {
  const schedule = state.get(diskSchedules, spec?.diskID ?? '');
  return ownValue(schedule?.status?.replicas, metadata?.name ?? '')?.scheduledSize ?? 0;
}

/** Whether new requests may be granted there. */
function isOpen(schedule: DiskSchedule, state: StoredObjects): boolean {
  const node = state.get(storageNodes, schedule.spec?.nodeID ?? '');
  const flags = [node?.spec, ownValue(node?.spec?.disks, schedule.spec?.name ?? '')];
  return (
    isAnswering(schedule, state) &&
    flags.every((each) => each?.allowScheduling !== false && each?.evictionRequested !== true) &&
    schedule.metadata?.deletionTimestamp === undefined
  );
}

/** Whether its node wants the disk and reports it as ready: then it decides requests, and those of existing entries even if it is cordoned. */
function isAnswering({ metadata, spec }: DiskSchedule, state: StoredObjects): boolean {
  const node: StorageNode | undefined = state.get(storageNodes, spec?.nodeID ?? '');
  const name = spec?.name ?? '';
  const reported = ownValue(node?.status?.diskStatus, name);
  return (
    ownValue(node?.spec?.disks, name) !== undefined &&
    reported?.diskUUID === metadata?.name &&
    getCondition(reported?.conditions, 'Ready')?.status === 'True'
  );
}
