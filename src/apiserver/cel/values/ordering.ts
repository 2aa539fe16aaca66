import { compareUtf8 } from '../../../kube/sorted-keys.ts';
import { CelDuration, CelError, CelTimestamp, noSuchOverload, Uint, type Value } from './values.ts';

export type Numeric = bigint | number | Uint;

export function isNumeric(value: Value): value is Numeric {
  return typeof value === 'bigint' || typeof value === 'number' || value instanceof Uint;
}

/** NaN if one of them is NaN. Doubles are compared with the nearest double of a whole number, as in cel-go. */
export function compareNumbers(a: Numeric, b: Numeric): number {
  if (typeof a === 'number') return typeof b === 'number' ? sign(a, b) : compareDouble(a, b);
  if (typeof b === 'number') return -compareDouble(b, a);
  return sign(wholeOf(a), wholeOf(b));
}

/** -1n, 0n, 1n, or an error if the two have no order. */
export function compare(a: Value, b: Value): bigint | CelError {
  if (isNumeric(a) && isNumeric(b)) {
    const order = compareNumbers(a, b);
    return Number.isNaN(order) ? new CelError('NaN values cannot be ordered') : BigInt(order);
  }
  if (typeof a === 'string' && typeof b === 'string') return BigInt(Math.sign(compareUtf8(a, b)));
  if (typeof a === 'boolean' && typeof b === 'boolean') return BigInt(Number(a) - Number(b));
  if (a instanceof Uint8Array && b instanceof Uint8Array) return BigInt(Buffer.compare(a, b));
  if (a instanceof CelDuration && b instanceof CelDuration) return BigInt(sign(a.nanos, b.nanos));
  if (a instanceof CelTimestamp && b instanceof CelTimestamp) return BigInt(sign(a.epochNanos, b.epochNanos));
  return new CelError(noSuchOverload);
}

export function isOrdered(value: Value): boolean {
  return (
    isNumeric(value) ||
    typeof value === 'string' ||
    typeof value === 'boolean' ||
    value instanceof Uint8Array ||
    value instanceof CelDuration ||
    value instanceof CelTimestamp
  );
}

function compareDouble(a: number, b: bigint | Uint): number {
  if (typeof b === 'bigint') {
    if (a < -(2 ** 63)) return -1;
    return a > 2 ** 63 ? 1 : sign(a, Number(b));
  }
  if (a < 0) return -1;
  return a > 2 ** 64 ? 1 : sign(a, Number(b.value));
}

function wholeOf(value: bigint | Uint): bigint {
  return typeof value === 'bigint' ? value : value.value;
}

function sign<T extends number | bigint>(a: T, b: T): number {
  if (a < b) return -1;
  if (a > b) return 1;
  return a === b ? 0 : Number.NaN;
}
