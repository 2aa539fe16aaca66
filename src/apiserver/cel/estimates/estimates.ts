/** A number between two bounds, in uint64 that never wraps around: what is too large is the largest. */
export interface Range {
  readonly min: bigint;
  readonly max: bigint;
}

export const uint64Max = 2n ** 64n - 1n;
export const unknownSize: Range = { min: 0n, max: uint64Max };
export const nothing: Range = { min: 0n, max: 0n };

export function fixed(value: bigint | number): Range {
  return { min: BigInt(value), max: BigInt(value) };
}

export function plus(a: Range, b: Range): Range {
  return { min: capped(a.min + b.min), max: capped(a.max + b.max) };
}

export function times(a: Range, b: Range): Range {
  return { min: capped(a.min * b.min), max: capped(a.max * b.max) };
}

export function timesFactor(a: Range, factor: number): Range {
  return { min: scaled(a.min, factor), max: scaled(a.max, factor) };
}

export function union(a: Range, b: Range): Range {
  return { min: smaller(a.min, b.min), max: a.max === smaller(a.max, b.max) ? b.max : a.max };
}

export function smaller(a: bigint, b: bigint): bigint {
  if (a < b) return a;
  return b;
}

export function sum(ranges: readonly Range[]): Range {
  return ranges.reduce(plus, nothing);
}

export function capped(value: bigint): bigint {
  return smaller(value, uint64Max);
}

/** By way of doubles, as it is done upstream. */
function scaled(value: bigint, factor: number): bigint {
  const product = Math.ceil(Number(value) * factor);
  return product >= 2 ** 64 ? uint64Max : BigInt(product);
}
