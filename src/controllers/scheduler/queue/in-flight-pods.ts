import type { ClusterChange } from '../../../engine/cluster-index/cluster-change.ts';

/** More changes than this while one pod is in flight: the oldest are forgotten, and the pod counts as woken. */
const changesMax = 10_000;

/**
 * Who is being decided upon, and what has changed since each of them left the queue. There is one log for all: each
 * remembers the position at which it began, and what lies before the oldest of them is dropped.
 */
export class InFlightPods<Item> {
  /** In order of beginning, so that the first one needs most of the log. */
  readonly #beginnings = new Map<Item, number>();
  /** The change at index 0 has position `#offset`. */
  #changes: ClusterChange[] = [];
  #offset = 0;

  get size(): number {
    return this.#beginnings.size;
  }

  /** Changes that are kept: those that somebody needs, and at most as many that nobody needs any more. */
  get loggedChanges(): number {
    return this.#changes.length;
  }

  add(item: Item): void {
    this.#beginnings.set(item, this.#offset + this.#changes.length);
  }

  delete(item: Item): void {
    if (!this.#beginnings.delete(item)) return;
    const [oldest = this.#offset + this.#changes.length] = this.#beginnings.values();
    const unneeded = oldest - this.#offset;
    // Half of it at least: moving the rest costs no more than writing what goes.
    if (unneeded > 0 && unneeded * 2 >= this.#changes.length) this.#drop(unneeded);
  }

  record(change: ClusterChange): void {
    if (this.#beginnings.size === 0) return;
    if (this.#changes.length >= changesMax) this.#drop(changesMax / 2);
    this.#changes.push(change);
  }

  /** Whether a change since it began satisfies `wakes`, as far as anybody can still tell: true when some are forgotten. */
  sawAny(item: Item, wakes: (change: ClusterChange) => boolean): boolean {
    const beginning = this.#beginnings.get(item);
    if (beginning === undefined || beginning < this.#offset) return true;
    for (let index = beginning - this.#offset; index < this.#changes.length; index += 1)
      if (wakes(this.#changes[index] as ClusterChange)) return true;
    return false;
  }

  #drop(count: number): void {
    this.#changes = this.#changes.slice(count);
    this.#offset += count;
  }
}
