import type { ClusterIndex } from '../../index/cluster-index.ts';
import type { CsiVolume } from '../../records/volume-record.ts';

/**
 * Volumes that a pod would bring to a node, counted against what the node can still attach. A volume that is attached
 * there already costs nothing.
 */
export class AttachDemand {
  readonly #index: ClusterIndex;
  readonly #byDriver = new Map<string, Set<string>>();

  constructor(index: ClusterIndex) {
    this.#index = index;
  }

  add(volume: CsiVolume | undefined): void {
    if (volume === undefined) return;
    const handles = this.#byDriver.get(volume.driver);
    if (handles === undefined) this.#byDriver.set(volume.driver, new Set([volume.handle]));
    else handles.add(volume.handle);
  }

  /** The first driver whose volumes don't all fit, with the numbers. */
  shortage(nodeName: string): AttachShortage | undefined {
    for (const [driver, handles] of this.#byDriver) {
      const limit = this.#index.attachments.limit(nodeName, driver);
      if (limit === undefined) continue;
      const attached = this.#index.attachments.on(nodeName).get(driver);
      let needed = 0;
      for (const handle of handles) if (attached?.has(handle) !== true) needed += 1;
      const free = limit - (attached?.size ?? 0);
      if (needed > 0 && needed > free) return { driver, needed, free: Math.max(free, 0) };
    }
    return undefined;
  }
}

export interface AttachShortage {
  readonly driver: string;
  readonly needed: number;
  readonly free: number;
}
