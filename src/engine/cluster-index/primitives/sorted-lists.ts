/**
 * Many short sorted lists in two typed arrays.
 *
 * Each list is a block of slots; a slot holds a size in bytes and the row of the volume that has it:
 *
 *     list 0            list 1                       list 2
 *     [10 10 20 . ]     [5 80 80 95 100 . . . ]      [1 . ]
 *      ^start  ^end      sorted by size, then by row  ^end   . is an unused slot
 *
 * Scanning 5,000 lists in order reads memory in order, so that "the smallest fit on every node" costs microseconds. A list that
 * outgrows its block moves to a block twice as large. The next list of the old size reuses the old block. Block sizes are powers
 * of two, so at least half of a block is in use when it has just grown.
 */
export class SortedLists {
  bytes = new Float64Array(1024);
  rows = new Int32Array(1024);
  /** The first slot of each list, and the slot after its last entry. */
  starts = new Int32Array(64);
  ends = new Int32Array(64);
  #blockSizes = new Int32Array(64);
  #used = 0;
  #count = 0;
  readonly #freeLists: number[] = [];
  readonly #freeBlocks = new Map<number, number[]>();
  readonly #compareRows: (a: number, b: number) => number;

  /** `compareRows` orders rows of equal bytes; it must be a total order. */
  constructor(compareRows: (a: number, b: number) => number) {
    this.#compareRows = compareRows;
  }

  create(): number {
    if (this.#freeLists.length === 0 && this.#count === this.starts.length) this.#growDirectory();
    const list = this.#freeLists.pop() ?? this.#count++;
    this.#place(list, this.#allocate(smallestBlock), smallestBlock, 0);
    return list;
  }

  /** Frees the list's block and number. The next list may reuse them. */
  destroy(list: number): void {
    this.#release(this.starts[list]!, this.#blockSizes[list]!);
    this.#place(list, 0, 0, 0);
    this.#freeLists.push(list);
  }

  length(list: number): number {
    return this.ends[list]! - this.starts[list]!;
  }

  insert(list: number, row: number, bytes: number): void {
    if (this.length(list) === this.#blockSizes[list]) this.#growList(list);
    const slot = this.#slotFor(list, row, bytes);
    const end = this.ends[list]!;
    this.bytes.copyWithin(slot + 1, slot, end);
    this.rows.copyWithin(slot + 1, slot, end);
    this.bytes[slot] = bytes;
    this.rows[slot] = row;
    this.ends[list] = end + 1;
  }

  /** `row` and `bytes` must be as they were inserted. */
  remove(list: number, row: number, bytes: number): boolean {
    const slot = this.#slotFor(list, row, bytes);
    const end = this.ends[list]!;
    if (slot >= end || this.rows[slot] !== row) return false;
    this.bytes.copyWithin(slot, slot + 1, end);
    this.rows.copyWithin(slot, slot + 1, end);
    this.ends[list] = end - 1;
    return true;
  }

  /** The first slot at or after `from` whose bytes are at least `bytes`; the list's end if there is none. */
  lowerBound(list: number, bytes: number, from: number): number {
    let low = from;
    let high = this.ends[list]!;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.bytes[middle]! < bytes) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The slot of the entry, or where to insert it: ordered by bytes, then by `compareRows`. */
  #slotFor(list: number, row: number, bytes: number): number {
    let low = this.starts[list]!;
    let high = this.ends[list]!;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const difference = this.bytes[middle]! - bytes;
      if (difference < 0 || (difference === 0 && this.#compareRows(this.rows[middle]!, row) < 0))
        low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #growList(list: number): void {
    const oldSize = this.#blockSizes[list]!;
    const oldStart = this.starts[list]!;
    const length = this.length(list);
    const newStart = this.#allocate(oldSize * 2);
    this.bytes.copyWithin(newStart, oldStart, oldStart + length);
    this.rows.copyWithin(newStart, oldStart, oldStart + length);
    this.#release(oldStart, oldSize);
    this.#place(list, newStart, oldSize * 2, length);
  }

  #place(list: number, start: number, blockSize: number, length: number): void {
    this.starts[list] = start;
    this.ends[list] = start + length;
    this.#blockSizes[list] = blockSize;
  }

  #allocate(size: number): number {
    const free = this.#freeBlocks.get(size)?.pop();
    if (free !== undefined) return free;
    const start = this.#used;
    this.#used += size;
    if (this.#used > this.bytes.length) this.#growSlots();
    return start;
  }

  #release(start: number, size: number): void {
    const blocks = this.#freeBlocks.get(size);
    if (blocks === undefined) this.#freeBlocks.set(size, [start]);
    else blocks.push(start);
  }

  #growSlots(): void {
    const size = Math.max(this.#used, this.bytes.length * 2);
    this.bytes = copiedInto(new Float64Array(size), this.bytes);
    this.rows = copiedInto(new Int32Array(size), this.rows);
  }

  #growDirectory(): void {
    const size = this.starts.length * 2;
    this.starts = copiedInto(new Int32Array(size), this.starts);
    this.ends = copiedInto(new Int32Array(size), this.ends);
    this.#blockSizes = copiedInto(new Int32Array(size), this.#blockSizes);
  }
}

const smallestBlock = 4;

function copiedInto<T extends Float64Array | Int32Array>(target: T, source: T): T {
  target.set(source);
  return target;
}
