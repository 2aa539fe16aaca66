/**
 * 64-bit integers have one form: a number up to 2^53, a bigint beyond. So equal integers are `===`, and comparisons with `<` work for both;
 * arithmetic does not mix them, hence these functions.
 */
type Int64 = number | bigint;

/** The form of an integer; undefined beyond 64 bits. */
export function int64Of(value: bigint): Int64 | undefined {
  return BigInt.asIntN(64, value) === value ? shortForm(value) : undefined;
}

/** The next integer. After the largest comes the smallest, as in Go. */
export function nextInt64(value: Int64): Int64 {
  return typeof value === 'number' && value < Number.MAX_SAFE_INTEGER
    ? value + 1
    : shortForm(BigInt.asIntN(64, BigInt(value) + 1n));
}

/** Negative if `a` comes first. */
export function compareInt64(a: Int64, b: Int64): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function shortForm(value: bigint): Int64 {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
