import type { PoolRecord } from '../../records/pool-record.ts';
import { addSizes, type Size, subtractSizes, zeroSize } from '../../size.ts';
import { expansionOf } from './promise-ids.ts';
import { bytesTaken } from './published-capacity-reports.ts';

/** The sizes that are promised of each pool, by the id of the promise, with their sums. They outlive the record of the pool. */
export class PromisedBytes {
  readonly #sizes = new Map<string, Map<string, Size>>();
  readonly #sums = new Map<string, Size>();

  of(poolKey: string): ReadonlyMap<string, Size> {
    return this.#sizes.get(poolKey) ?? noPromises;
  }

  has(poolKey: string): boolean {
    return this.#sizes.has(poolKey);
  }

  add(poolKey: string, id: string, size: Size): void {
    const sizes = this.#sizes.get(poolKey) ?? new Map<string, Size>();
    this.#sizes.set(poolKey, sizes);
    sizes.set(id, size);
    this.#sums.set(poolKey, addSizes(this.#sums.get(poolKey) ?? zeroSize, size));
  }

  /** False if there is no such promise. */
  remove(poolKey: string, id: string): boolean {
    const sizes = this.#sizes.get(poolKey);
    const size = sizes?.get(id);
    if (sizes === undefined || size === undefined) return false;
    sizes.delete(id);
    this.#sums.set(poolKey, subtractSizes(this.#sums.get(poolKey)!, size));
    if (sizes.size > 0) return true;
    this.#sizes.delete(poolKey);
    this.#sums.delete(poolKey);
    return true;
  }

  /** The bytes that the promises take of the pool. A driver with a smallest volume creates no smaller one; it may grow by less. */
  total(poolKey: string, record: PoolRecord | undefined): Size {
    if (record?.smallest === undefined) return this.#sums.get(poolKey) ?? zeroSize;
    let total = zeroSize;
    for (const [id, size] of this.of(poolKey))
      total = addSizes(total, expansionOf(id) === undefined ? bytesTaken(record, size) : size);
    return total;
  }
}

const noPromises: ReadonlyMap<string, Size> = new Map();
