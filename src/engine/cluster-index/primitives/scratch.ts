/**
 * Temporary columns that successive plans reuse. Allocating a quarter of a megabyte per pod would cost as much as the decision
 * itself.
 *
 * A plan is synchronous and starts no other plan, so each slot has one user at a time.
 */
export class Scratch {
  readonly #ints = new Map<string, Int32Array>();
  readonly #doubles = new Map<string, Float64Array>();

  /** A column with `length` entries, filled with `value`. */
  ints(slot: string, length: number, value = 0): Int32Array {
    let column = this.#ints.get(slot);
    if (column === undefined || column.length !== length) {
      column = new Int32Array(length);
      this.#ints.set(slot, column);
    }
    return column.fill(value);
  }

  doubles(slot: string, length: number): Float64Array {
    let column = this.#doubles.get(slot);
    if (column === undefined || column.length !== length) {
      column = new Float64Array(length);
      this.#doubles.set(slot, column);
    }
    return column.fill(0);
  }
}
