import { assert } from '../../../runtime/assert.ts';

/** The heap stores each item's position in the item itself. So an item can be in one heap at a time. */
export interface HeapItem {
  slot: number;
}

/** A binary heap that can delete any item: `first` costs O(1), everything else O(log n). */
export class Heap<T extends HeapItem> {
  readonly #items: T[] = [];
  readonly #isBefore: (a: T, b: T) => boolean;

  /** If the order of an item changes, the caller must delete it and add it again before it changes the heap otherwise. */
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

  /** Does not compare the item itself, so its order may have changed. */
  delete(item: T): void {
    const { slot } = item;
    assert(this.#items[slot] === item, 'an item must be in the heap to be deleted');
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
