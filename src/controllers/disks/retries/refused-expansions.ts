import type { DiskIndex } from '../../../engine/disks/disk-index.ts';
import { canGrantExpansion, type ExpansionNeeds } from '../../../engine/disks/volumes/expansion-room.ts';

/**
 * Volumes whose expansion a disk has refused. They hold no bytes and need no timer: a change of a disk wakes those whose disks would all grant the expansion
 * now. A volume that is woken in vain costs one plan and no write.
 */
export class RefusedExpansions {
  readonly #diskIndex: Pick<DiskIndex, 'get'>;
  readonly #wake: (volume: string) => void;
  readonly #needs = new Map<string, ExpansionNeeds>();
  readonly #volumesOf = new Map<string, Set<string>>();

  constructor(diskIndex: Pick<DiskIndex, 'get'>, wake: (volume: string) => void) {
    this.#diskIndex = diskIndex;
    this.#wake = wake;
  }

  /** Without needs, only the events of the volume itself wake it. */
  set(volume: string, needs: ExpansionNeeds | undefined): void {
    this.delete(volume);
    if (needs === undefined) return;
    this.#needs.set(volume, needs);
    for (const uuid of needs.keys()) {
      const volumes = this.#volumesOf.get(uuid) ?? new Set();
      this.#volumesOf.set(uuid, volumes.add(volume));
    }
  }

  delete(volume: string): void {
    for (const uuid of this.#needs.get(volume)?.keys() ?? []) {
      const volumes = this.#volumesOf.get(uuid);
      volumes?.delete(volume);
      if (volumes?.size === 0) this.#volumesOf.delete(uuid);
    }
    this.#needs.delete(volume);
  }

  diskChanged(uuid: string): void {
    for (const volume of this.#volumesOf.get(uuid) ?? []) {
      const needs = this.#needs.get(volume);
      if (needs !== undefined && canGrantExpansion(needs, (disk) => this.#diskIndex.get(disk)))
        this.#wake(volume);
    }
  }
}
