import type { ClusterChange } from '../../../engine/cluster-index/cluster-change.ts';

/** If more changes than this come while one pod is in flight, the oldest are dropped and the pod counts as woken. */
const changesMax = 10_000;

/**
 * The pods that are being decided on, and what has changed since each of them was taken from the queue. All share one log of changes:
 * each pod has the position at which it started, and changes before the oldest start are dropped.
 */
export class InFlightPods<Item> {
  /** Ordered by their start, so that the first pod needs most of the log. */
  readonly #starts = new Map<Item, number>();
  /** The change at index 0 has position `#offset`. */
  #changes: ClusterChange[] = [];
  #offset = 0;

  get size(): number {
    return this.#starts.size;
  }

  /** The number of changes in the log: those that a pod needs, and at most as many that no pod needs any more. */
  get loggedChanges(): number {
    return this.#changes.length;
  }

  add(item: Item): void {
    this.#starts.set(item, this.#offset + this.#changes.length);
  }

  delete(item: Item): void {
    if (!this.#starts.delete(item)) return;
    const [oldest = this.#offset + this.#changes.length] = this.#starts.values();
    const unneeded = oldest - this.#offset;
    // At least half of the log: then copying the rest costs no more than writing the dropped part did.
    if (unneeded > 0 && unneeded * 2 >= this.#changes.length) this.#drop(unneeded);
  }

  record(change: ClusterChange): void {
    if (this.#starts.size === 0) return;
    if (this.#changes.length >= changesMax) this.#drop(changesMax / 2);
    this.#changes.push(change);
  }

  /** Whether a change since the item's start satisfies `wakes`. True if changes have been dropped since then. */
  sawAny(item: Item, wakes: (change: ClusterChange) => boolean): boolean {
    const start = this.#starts.get(item);
    if (start === undefined || start < this.#offset) return true;
    for (let index = start - this.#offset; index < this.#changes.length; index += 1)
      if (wakes(this.#changes[index] as ClusterChange)) return true;
    return false;
  }

  #drop(count: number): void {
    this.#changes = this.#changes.slice(count);
    this.#offset += count;
  }
}
