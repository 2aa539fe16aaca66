import { chooseDisk, type DiskCandidate, type DiskPlace, diskRefusalText } from '../disks/choose-disk.ts';
import type { DiskClass } from '../disks/disk-class.ts';

/** A new volume on disks. */
export interface VolumeToFit {
  readonly diskClass: DiskClass;
  readonly bytes: number;
}

/**
 * Disks that are filled with further volumes, replica by replica, as the controller of disks does it. A pool of disks publishes the capacity that small volumes can use
 * together; how many large ones fit depends on the single disks, and on the nodes and zones that keep replicas apart.
 */
export class DiskFilling {
  /** Why the last volume did not fit. */
  shortage: string | undefined;
  #disks: ReadonlyMap<string, DiskCandidate>;

  constructor(disks: Iterable<DiskCandidate>) {
    this.#disks = new Map([...disks].map((disk) => [disk.uuid, disk]));
  }

  /** Places all of the volumes, or none. */
  place(volumes: readonly VolumeToFit[]): boolean {
    const disks = new Map(this.#disks);
    for (const volume of volumes) {
      this.shortage = placeVolume(disks, volume);
      if (this.shortage !== undefined) return false;
    }
    this.#disks = disks;
    return true;
  }
}

/** Undefined if all replicas were placed. */
function placeVolume(
  disks: Map<string, DiskCandidate>,
  { diskClass, bytes }: VolumeToFit,
): string | undefined {
  const { numberOfReplicas } = diskClass;
  const others: DiskPlace[] = [];
  for (let number = 1; number <= numberOfReplicas; number += 1) {
    const choice = chooseDisk(disks.values(), { ...diskClass, bytes, others, rejectedBy: new Set() });
    if (choice.kind === 'refused')
      return `replica ${number} of ${numberOfReplicas}: ${diskRefusalText(choice.obstacles)}`;
    const { disk } = choice;
    others.push(disk);
    const demandBytes = disk.demandBytes + bytes;
    disks.set(disk.uuid, { ...disk, demandBytes, entryCount: (disk.entryCount ?? 0) + 1 });
  }
  return undefined;
}
