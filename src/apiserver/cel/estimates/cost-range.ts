/** A range of numbers, in uint64 arithmetic that saturates instead of overflowing. */
export interface CostRange {
  readonly min: bigint;
  readonly max: bigint;
}

export const uint64Max = 2n ** 64n - 1n;
export const unknownSize: CostRange = { min: 0n, max: uint64Max };
export const zeroRange: CostRange = { min: 0n, max: 0n };

export function exactRange(value: bigint | number): CostRange {
  return { min: BigInt(value), max: BigInt(value) };
}

export function plus(a: CostRange, b: CostRange): CostRange {
  return { min: cappedUint64(a.min + b.min), max: cappedUint64(a.max + b.max) };
}

export function times(a: CostRange, b: CostRange): CostRange {
  return { min: cappedUint64(a.min * b.min), max: cappedUint64(a.max * b.max) };
}

export function timesFactor(a: CostRange, factor: number): CostRange {
  return { min: scaled(a.min, factor), max: scaled(a.max, factor) };
}

export function rangeUnion(a: CostRange, b: CostRange): CostRange {
  return { min: minimumOf(a.min, b.min), max: a.max === minimumOf(a.max, b.max) ? b.max : a.max };
}

export function minimumOf(a: bigint, b: bigint): bigint {
  if (a < b) return a;
  return b;
}

export function sum(ranges: readonly CostRange[]): CostRange {
  return ranges.reduce(plus, zeroRange);
}

export function cappedUint64(value: bigint): bigint {
  return minimumOf(value, uint64Max);
}

/** Computed with doubles, as in cel-go. */
function scaled(value: bigint, factor: number): bigint {
  const product = Math.ceil(Number(value) * factor);
  return product >= 2 ** 64 ? uint64Max : BigInt(product);
}
