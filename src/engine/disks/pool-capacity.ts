import type { StorageClass } from '../../kube/api/storage.ts';
import type { BackingImage } from '../../kube/stowage/backing-image.ts';
import type { DiskSchedule } from '../../kube/stowage/disk-schedule.ts';
import type { DiskCandidate } from './choose-disk.ts';
import { readDiskClass } from './disk-class.ts';
import { withImageDemand } from './images/image-demand.ts';
import { replicaRoom } from './replica-room.ts';

/** The capacity that is published for one class. */
export interface PoolCapacityReport {
  readonly className: string;
  readonly classUid: string;
  readonly totalBytes: bigint;
  readonly largestBytes: bigint;
  /** UUIDs of the disks that the class can use. */
  readonly disks: readonly string[];
}

/** A disk, and the schedule that it was read from. */
export interface ScheduledDisk {
  readonly disk: DiskCandidate;
  readonly schedule: DiskSchedule;
}

/** Computes the capacity of a class; undefined if its parameters are invalid: the provisioner reports the error. */
export function poolCapacityReport(
  { metadata, parameters = {} }: StorageClass,
  disks: readonly ScheduledDisk[],
  imageNamed: (name: string) => BackingImage | undefined,
): PoolCapacityReport | undefined {
  const read = readDiskClass(parameters);
  if (!read.ok) return undefined;
  const schedules = new Map(disks.map(({ disk, schedule }) => [disk.uuid, schedule]));
  // The size of an image that does not exist is unknown: the provisioner refuses its claims.
  const image = imageNamed(read.value.backingImage ?? '');
  const candidates = withImageDemand(
    image,
    disks.map(({ disk }) => disk),
    schedules,
  );
  const room = replicaRoom(candidates, read.value);
  return {
    className: metadata?.name ?? '',
    classUid: metadata?.uid ?? '',
    totalBytes: room.totalBytes,
    largestBytes: room.largestBytes,
    disks: room.disks,
  };
}
