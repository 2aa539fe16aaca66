import type { CsiVolume } from '../../records/volume-record.ts';

/** The distinct handles of volumes. */
export type VolumeHandles = Pick<ReadonlyMap<string, number>, 'size' | 'has' | 'keys'>;

/** The distinct volume handles of each driver. */
export type AttachedVolumes = ReadonlyMap<string, VolumeHandles>;

/** Volumes by driver and handle, each with the number of its uses: a volume counts once, until its last use ends. */
export class AttachedHandles {
  readonly #byDriver = new Map<string, Map<string, number>>();

  get byDriver(): AttachedVolumes {
    return this.#byDriver;
  }

  add({ driver, handle }: CsiVolume): void {
    const uses = this.#byDriver.get(driver);
    if (uses === undefined) this.#byDriver.set(driver, new Map([[handle, 1]]));
    else uses.set(handle, (uses.get(handle) ?? 0) + 1);
  }

  remove({ driver, handle }: CsiVolume): void {
    const uses = this.#byDriver.get(driver);
    const count = uses?.get(handle) ?? 0;
    if (count > 1) uses!.set(handle, count - 1);
    else uses?.delete(handle);
  }
}
