import type { PersistentVolume } from '../../../kube/api/core.ts';
import { persistentVolumes } from '../../../kube/resources.ts';
import type { ControllerContext } from '../../../reconcile/controller.ts';
import type { Informer } from '../../../reconcile/informer/informer.ts';

/**
 * Which PersistentVolume has which volume of a driver. CSI requires a different id for each volume. A driver that returns one id twice would
 * give two claims the same data, and the deletion of one claim would delete the data of the other.
 */
export class CsiVolumeIds {
  readonly #volumes: Informer<PersistentVolume>;
  /** The names of the PersistentVolumes. Key: driver and id. */
  readonly #recorded = new Map<string, Set<string>>();
  /** The name of the PersistentVolume that this process is about to create. Key: driver and id. */
  readonly #reserved = new Map<string, string>();

  constructor({ informers }: Pick<ControllerContext, 'informers'>) {
    this.#volumes = informers.of(persistentVolumes);
  }

  async synced(signal: AbortSignal): Promise<boolean> {
    return await this.#volumes.synced(signal);
  }

  /** Follows the PersistentVolumes until the returned function is called. */
  listen(): () => void {
    const remove = (volume: PersistentVolume) => this.#remove(volume);
    return this.#volumes.addHandler({
      added: (volume) => this.#add(volume),
      updated: (volume, old) => {
        remove(old);
        this.#add(volume);
      },
      deleted: remove,
    });
  }

  /** The name of a PersistentVolume other than `name` that has the volume; undefined if there is none. */
  otherHolder(driver: string, volumeId: string, name: string): string | undefined {
    const key = keyOfHandle(driver, volumeId);
    const others = [...(this.#recorded.get(key) ?? []), this.#reserved.get(key) ?? name];
    return others.find((other) => other !== name);
  }

  /** The volume is going to be recorded under this name, unless another one has it: then returns that name. */
  reserve(driver: string, volumeId: string, name: string): string | undefined {
    const holder = this.otherHolder(driver, volumeId, name);
    if (holder === undefined) this.#reserved.set(keyOfHandle(driver, volumeId), name);
    return holder;
  }

  /** The volume was deleted, so the id may be used again. */
  release(driver: string, volumeId: string): void {
    this.#reserved.delete(keyOfHandle(driver, volumeId));
  }

  #add({ metadata, spec }: PersistentVolume): void {
    if (spec?.csi === undefined) return;
    const key = keyOfHandle(spec.csi.driver ?? '', spec.csi.volumeHandle ?? '');
    const names = this.#recorded.get(key) ?? new Set();
    this.#recorded.set(key, names.add(metadata?.name ?? ''));
    if (this.#reserved.get(key) === metadata?.name) this.#reserved.delete(key);
  }

  #remove({ metadata, spec }: PersistentVolume): void {
    const key = keyOfHandle(spec?.csi?.driver ?? '', spec?.csi?.volumeHandle ?? '');
    const names = this.#recorded.get(key);
    names?.delete(metadata?.name ?? '');
    if (names?.size === 0) this.#recorded.delete(key);
  }
}

function keyOfHandle(driver: string, volumeId: string): string {
  return `${driver} ${volumeId}`;
}
