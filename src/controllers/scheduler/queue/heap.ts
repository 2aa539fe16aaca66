import { assert } from '../../../runtime/assert.ts';

/** What a heap writes on an item while it holds it: where it is. So an item is in one heap at a time. */
export interface HeapItem {
  slot: number;
}

/** A binary heap that also gives up items from its middle: the first is at hand, everything else costs O(log n). */
export class Heap<T extends HeapItem> {
  readonly #items: T[] = [];
  readonly #isBefore: (a: T, b: T) => boolean;

  /** An item that `isBefore` sees in another light must leave and come back before anything else moves. */
  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#items.length;
  }

  get first(): T | undefined {
    return this.#items[0];
  }

  add(item: T): void {
    this.#items.push(item);
    this.#rise(item, this.#items.length - 1);
  }

  /** Never asks for the order of the item itself. */
  delete(item: T): void {
    const { slot } = item;
    assert(this.#items[slot] === item, 'only an item that is in the heap can leave it');
    const last = this.#items.pop();
    if (last === undefined || last === item) return;
    this.#rise(last, slot);
    this.#sink(last, last.slot);
  }

  #rise(item: T, from: number): void {
    let slot = from;
    while (slot > 0) {
      const above = (slot - 1) >>> 1;
      const parent = this.#items[above] as T;
      if (!this.#isBefore(item, parent)) break;
      this.#put(parent, slot);
      slot = above;
    }
    this.#put(item, slot);
  }

  #sink(item: T, from: number): void {
    let slot = from;
    for (let below = this.#firstBelow(slot); below !== undefined; below = this.#firstBelow(slot)) {
      const child = this.#items[below] as T;
      if (!this.#isBefore(child, item)) break;
      this.#put(child, slot);
      slot = below;
    }
    this.#put(item, slot);
  }

  #firstBelow(slot: number): number | undefined {
    const left = 2 * slot + 1;
    const right = left + 1;
    if (left >= this.#items.length) return undefined;
    if (right >= this.#items.length) return left;
    return this.#isBefore(this.#items[right] as T, this.#items[left] as T) ? right : left;
  }

  #put(item: T, slot: number): void {
    this.#items[slot] = item;
    item.slot = slot;
  }
}
