/**
 * A column of sums of whole numbers, one a row, that come back to exactly where they were when what was added is taken away.
 * Sums that a double can't hold exactly are kept beside it; the column then shows them rounded.
 */
export class ExactSums {
  #values = new Float64Array(0);
  readonly #immense = new Map<number, bigint>();

  /** At least as long as the last `reserve` said; good until the next one. */
  get values(): Float64Array {
    return this.#values;
  }

  /** Makes room for so many rows. */
  reserve(length: number): void {
    this.#values = growColumn(this.#values, length);
  }

  add(row: number, amount: number): void {
    const known = this.#immense.get(row);
    const sum = this.#values[row]! + amount;
    if (known === undefined && Number.isSafeInteger(sum)) this.#values[row] = sum;
    else this.#addExactly(row, (known ?? BigInt(this.#values[row]!)) + BigInt(amount));
  }

  #addExactly(row: number, sum: bigint): void {
    this.#values[row] = Number(sum);
    if (Number.isSafeInteger(this.#values[row])) this.#immense.delete(row);
    else this.#immense.set(row, sum);
  }
}

/** The same column, or a longer copy. */
export function growColumn(column: Float64Array<ArrayBuffer>, length: number): Float64Array<ArrayBuffer> {
  if (column.length >= length) return column;
  const longer = new Float64Array(Math.max(length, column.length * 2));
  longer.set(column);
  return longer;
}
