import { assert } from '../../runtime/assert.ts';

/** The length at which a chunk is split. Moving this many pointers costs about as much as the search before. */
const chunkLengthMax = 512;

/**
 * Sorted strings (by UTF-16 units, which for Kubernetes names is byte order), in chunks: an insertion or removal moves
 * at most one chunk of pointers, whatever the size and the order of arrival.
 */
export class SortedKeys {
  /** Chunks in the order of their keys; none is empty. */
  readonly #chunks: string[][] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(key: string): void {
    this.#size += 1;
    const last = this.#chunks.at(-1);
    if (last === undefined || key > last[last.length - 1]!) this.#append(last, key);
    else this.#insert(key);
  }

  delete(key: string): void {
    const { chunk: chunkIndex, index } = this.#positionWhere((other) => other >= key);
    const chunk = this.#chunks[chunkIndex];
    assert(chunk?.[index] === key, `${key} does not exist`);
    this.#size -= 1;
    chunk.splice(index, 1);
    if (chunk.length === 0) this.#chunks.splice(chunkIndex, 1);
  }

  /** Keys with the prefix that come after `after`, at most `limit`. */
  range(prefix = '', after?: string, limit = Number.POSITIVE_INFINITY): string[] {
    const found: string[] = [];
    const start = this.#positionWhere((key) => key >= prefix && (after === undefined || key > after));
    const end = this.#endOf(prefix);
    for (let chunkIndex = start.chunk; chunkIndex <= end.chunk && found.length < limit; chunkIndex += 1) {
      const chunk = this.#chunks[chunkIndex] ?? [];
      const first = chunkIndex === start.chunk ? start.index : 0;
      const past = chunkIndex === end.chunk ? end.index : chunk.length;
      const pastLimit = Math.min(past, first + limit - found.length);
      for (let index = first; index < pastLimit; index += 1) found.push(chunk[index]!);
    }
    return found;
  }

  count(prefix = ''): number {
    if (prefix === '') return this.#size;
    const start = this.#positionWhere((key) => key >= prefix);
    const end = this.#endOf(prefix);
    let count = end.index - start.index;
    for (let index = start.chunk; index < end.chunk; index += 1) count += this.#chunks[index]!.length;
    return count;
  }

  /** The position after the last key with the prefix. */
  #endOf(prefix: string): Position {
    if (prefix === '') return { chunk: this.#chunks.length, index: 0 };
    return this.#positionWhere((key) => key > prefix && !key.startsWith(prefix));
  }

  #positionWhere(isPast: (key: string) => boolean): Position {
    const chunkIndex = this.#chunkWhere(isPast);
    const chunk = this.#chunks[chunkIndex];
    return { chunk: chunkIndex, index: chunk === undefined ? 0 : firstWhere(chunk, isPast) };
  }

  /** The first chunk with a key for which `isPast` is true; the number of chunks if there is none. */
  #chunkWhere(isPast: (key: string) => boolean): number {
    return firstWhere(this.#chunks, (chunk) => isPast(chunk[chunk.length - 1]!));
  }

  /** Keys often arrive in order, and always while a store is loaded: chunks are then filled completely. */
  #append(last: string[] | undefined, key: string): void {
    if (last === undefined || last.length === chunkLengthMax) this.#chunks.push([key]);
    else last.push(key);
  }

  /** Inserts before an existing key. */
  #insert(key: string): void {
    const { chunk: chunkIndex, index } = this.#positionWhere((other) => other >= key);
    const chunk = this.#chunks[chunkIndex]!;
    assert(chunk[index] !== key, `${key} exists already`);
    chunk.splice(index, 0, key);
    if (chunk.length > chunkLengthMax) {
      this.#chunks.splice(chunkIndex + 1, 0, chunk.splice(chunk.length >> 1));
    }
  }
}

interface Position {
  readonly chunk: number;
  readonly index: number;
}

/** Binary search; `isPast` is false up to some item and true from there on. Returns the length if it is never true. */
export function firstWhere<T>(items: readonly T[], isPast: (item: T) => boolean): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isPast(items[middle]!)) high = middle;
    else low = middle + 1;
  }
  return low;
}
