import type { DiskCandidate } from '../../../engine/disks/choose-disk.ts';
import { type DiskClass, readDiskClass } from '../../../engine/disks/disk-class.ts';
import { replicaRoom } from '../../../engine/disks/replica-room.ts';
import type { StorageClass } from '../../../kube/api/storage.ts';
import type { BackingImage } from '../../../kube/disks/backing-image.ts';
import type { DiskSchedule } from '../../../kube/disks/disk-schedule.ts';
import { ownValue } from '../../../kube/go/json-value.ts';
import { digest } from '../../capacity/published-names.ts';

/** What is published about one class. */
export interface PoolFigure {
  readonly className: string;
  readonly classUid: string;
  readonly totalBytes: bigint;
  readonly largestBytes: bigint;
  /** Equal for classes that use the same disks. */
  readonly backing: string;
}

/** A disk, and the schedule that it was read from. */
export interface ScheduledDisk {
  readonly disk: DiskCandidate;
  readonly schedule: DiskSchedule;
}

/** The figure of a class; undefined if its parameters are invalid: the provisioner says what is wrong with them. */
export function poolFigure(
  { metadata, parameters = {} }: StorageClass,
  disks: readonly ScheduledDisk[],
  imageNamed: (name: string) => BackingImage | undefined,
): PoolFigure | undefined {
  const read = readDiskClass(parameters);
  if (!read.ok) return undefined;
  const image = imageBytesOf(read.value, disks, imageNamed);
  const room = replicaRoom(
    disks.map(({ disk }) => disk),
    read.value,
    ({ uuid }) => image.get(uuid) ?? 0,
  );
  return {
    className: metadata?.name ?? '',
    classUid: metadata?.uid ?? '',
    totalBytes: room.totalBytes,
    largestBytes: room.largestBytes,
    backing: `disks-${digest(room.disks.join())}`,
  };
}

/** The bytes of the class's image, for each disk that has not been asked for a copy. Nothing is known about an image that does not exist. */
function imageBytesOf(
  { backingImage }: DiskClass,
  disks: readonly ScheduledDisk[],
  imageNamed: (name: string) => BackingImage | undefined,
): ReadonlyMap<string, number> {
  const image = backingImage === undefined ? undefined : imageNamed(backingImage);
  const bytes = image?.status?.size ?? image?.spec?.expectedSize ?? 0;
  const without = disks.filter(
    ({ schedule }) => ownValue(schedule.spec?.backingImages, backingImage ?? '') === undefined,
  );
  return new Map(bytes === 0 ? [] : without.map(({ disk }) => [disk.uuid, bytes]));
}
