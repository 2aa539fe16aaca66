import { chooseDisk, type DiskCandidate, type DiskPlace, diskRefusalText } from './choose-disk.ts';
import type { DiskClass } from './disk-class.ts';

/** Why a new volume of a class has no room: the first replica without a disk, and the disk that comes closest. Undefined if all of them fit. */
export function diskShortage(
  disks: Iterable<DiskCandidate>,
  diskClass: DiskClass,
  bytes: number,
): string | undefined {
  const { numberOfReplicas } = diskClass;
  const places: DiskPlace[] = [];
  let left = [...disks];
  for (let number = 1; number <= numberOfReplicas; number += 1) {
    const choice = chooseDisk(left, { ...diskClass, bytes, others: places, rejectedBy: new Set() });
    if (choice.kind === 'refused')
      return `replica ${number} of ${numberOfReplicas}: ${diskRefusalText(choice.obstacles)}`;
    const { uuid } = choice.disk;
    places.push(choice.disk);
    left = left.map((disk) =>
      disk.uuid === uuid ? { ...disk, demandBytes: disk.demandBytes + bytes } : disk,
    );
  }
  return undefined;
}
