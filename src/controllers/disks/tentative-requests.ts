import type { DiskCandidate } from '../../engine/disks/choose-disk.ts';
import type { VolumeStep } from '../../engine/disks/volumes/volume-model.ts';
import { ownValue } from '../../kube/go/json-value.ts';
import type { DiskCaches } from './disk-caches.ts';

interface TentativeRequest {
  readonly replica: string;
  readonly diskUUID: string;
  readonly bytes: number;
}

/**
 * Requests of this process that its caches do not show yet: volumes that are planned at the same time choose other disks. They only influence the
 * choice; disks decide by what is stored.
 */
export class TentativeRequests {
  readonly #schedules: DiskCaches['schedules'];
  readonly #byVolume = new Map<string, readonly TentativeRequest[]>();

  constructor({ schedules }: Pick<DiskCaches, 'schedules'>) {
    this.#schedules = schedules;
  }

  /** Notes the requests of a plan before it is carried out. */
  add(volume: string, steps: readonly VolumeStep[]): void {
    const requests = steps.filter((step) => step.kind === 'request');
    if (requests.length > 0) this.#byVolume.set(volume, requests);
  }

  /** Returns the disks whose demand falls by this: those of requests that the caches do not show. */
  clear(volume: string): readonly string[] {
    const unseen = (this.#byVolume.get(volume) ?? []).filter((request) => this.#unseenBytes(request) > 0);
    this.#byVolume.delete(volume);
    return unseen.map(({ diskUUID }) => diskUUID);
  }

  /** The disks with what is about to be requested of them. */
  addedTo(disks: readonly DiskCandidate[]): readonly DiskCandidate[] {
    const bytesOf = new Map<string, number>();
    for (const [volume, requests] of this.#byVolume) {
      const unseen = requests.filter((request) => this.#unseenBytes(request) > 0);
      if (unseen.length === 0) this.#byVolume.delete(volume);
      for (const request of unseen) {
        const { diskUUID } = request;
        bytesOf.set(diskUUID, (bytesOf.get(diskUUID) ?? 0) + this.#unseenBytes(request));
      }
    }
    if (bytesOf.size === 0) return disks;
    return disks.map((disk) => {
      const bytes = bytesOf.get(disk.uuid);
      return bytes === undefined ? disk : { ...disk, demandBytes: disk.demandBytes + bytes };
    });
  }

  /** Of a replica that grows, the difference from what the caches show. */
  #unseenBytes({ replica, diskUUID, bytes }: TentativeRequest): number {
    const shown = ownValue(this.#schedules.get(diskUUID)?.spec?.replicas, replica) ?? 0;
    return Math.max(0, bytes - shown);
  }
}
