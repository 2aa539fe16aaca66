/**
 * A column of integer sums, one per row. Subtracting everything that was added restores the exact value. Sums that a double can't
 * represent exactly are also kept as bigints, and the column holds them rounded.
 */
export class ExactSums {
  #values = new Float64Array(0);
  readonly #large = new Map<number, bigint>();

  /** At least as long as the last `reserve` requested. The array is valid until the next `reserve`. */
  get values(): Float64Array {
    return this.#values;
  }

  /** Grows the column to at least `length` rows. */
  reserve(length: number): void {
    this.#values = growColumn(this.#values, length);
  }

  add(row: number, amount: number): void {
    const known = this.#large.get(row);
    const sum = this.#values[row]! + amount;
    if (known === undefined && Number.isSafeInteger(sum)) this.#values[row] = sum;
    else this.#addExactly(row, (known ?? BigInt(this.#values[row]!)) + BigInt(amount));
  }

  #addExactly(row: number, sum: bigint): void {
    this.#values[row] = Number(sum);
    if (Number.isSafeInteger(this.#values[row])) this.#large.delete(row);
    else this.#large.set(row, sum);
  }
}

/** Returns the same column, or a longer copy. */
export function growColumn(column: Float64Array<ArrayBuffer>, length: number): Float64Array<ArrayBuffer> {
  if (column.length >= length) return column;
  const longer = new Float64Array(Math.max(length, column.length * 2));
  longer.set(column);
  return longer;
}
