import { floorDivide, nanosPerSecond } from '../../../kube/go/calendar.ts';
import { CelDuration, CelError, CelTimestamp, isList, noSuchOverload, Uint, type Value } from './values.ts';

/** Arithmetic without overflow: a result that does not fit is an error. */
export function add(a: Value, b: Value): Value {
  if (typeof a === 'bigint' && typeof b === 'bigint') return checkedInt(a + b);
  if (typeof a === 'number' && typeof b === 'number') return a + b;
  if (typeof a === 'string' && typeof b === 'string') return a + b;
  if (a instanceof Uint && b instanceof Uint) return checkedUint(a.value + b.value);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Uint8Array.from([...a, ...b]);
  if (a instanceof CelDuration) return addToDuration(a, b);
  if (a instanceof CelTimestamp && b instanceof CelDuration)
    return checkedTimestamp(a.epochNanos + b.nanos, a.offsetSeconds);
  if (isList(a) && isList(b)) return a.concat(b);
  return unsupportedOperation('_+_', a);
}

export function subtract(a: Value, b: Value): Value {
  if (typeof a === 'bigint' && typeof b === 'bigint') return checkedInt(a - b);
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (a instanceof Uint && b instanceof Uint) return checkedUint(a.value - b.value);
  if (a instanceof CelDuration && b instanceof CelDuration) return checkedDuration(a.nanos - b.nanos);
  if (a instanceof CelTimestamp && b instanceof CelTimestamp)
    return checkedDuration(a.epochNanos - b.epochNanos);
  if (a instanceof CelTimestamp && b instanceof CelDuration)
    return checkedTimestamp(a.epochNanos - b.nanos, a.offsetSeconds);
  return unsupportedOperation('_-_', a);
}

export function multiply(a: Value, b: Value): Value {
  if (typeof a === 'bigint' && typeof b === 'bigint') return checkedInt(a * b);
  if (typeof a === 'number' && typeof b === 'number') return a * b;
  if (a instanceof Uint && b instanceof Uint) return checkedUint(a.value * b.value);
  return unsupportedOperation('_*_', a);
}

export function divide(a: Value, b: Value): Value {
  if (typeof a === 'number' && typeof b === 'number') return a / b;
  if (typeof a === 'bigint' && typeof b === 'bigint')
    return b === 0n ? new CelError('division by zero') : checkedInt(a / b);
  if (a instanceof Uint && b instanceof Uint) {
    return b.value === 0n ? new CelError('division by zero') : checkedUint(a.value / b.value);
  }
  return unsupportedOperation('_/_', a);
}

export function modulo(a: Value, b: Value): Value {
  if (typeof a === 'bigint' && typeof b === 'bigint') {
    if (b === 0n) return new CelError('modulus by zero');
    return a === int64Min && b === -1n ? new CelError('integer overflow') : a % b;
  }
  if (a instanceof Uint && b instanceof Uint) {
    return b.value === 0n ? new CelError('modulus by zero') : checkedUint(a.value % b.value);
  }
  return unsupportedOperation('_%_', a);
}

export function negate(a: Value): Value {
  if (typeof a === 'bigint') return checkedInt(-a);
  if (typeof a === 'number') return -a;
  if (a instanceof CelDuration) return checkedDuration(-a.nanos);
  return new CelError(isReceiver(a) ? noSuchOverload : `${noSuchOverload}: -_`);
}

const int64Max = 2n ** 63n - 1n;
const int64Min = -(2n ** 63n);
const uint64Max = 2n ** 64n - 1n;
/** From the year 1 to the year 9999. */
const epochSecondsMin = -62_135_596_800n;
const epochSecondsMax = 253_402_300_799n;

export function checkedInt(value: bigint): Value {
  return value > int64Max || value < int64Min ? new CelError('integer overflow') : value;
}

export function checkedUint(value: bigint): Value {
  return value > uint64Max || value < 0n ? new CelError('unsigned integer overflow') : new Uint(value);
}

function checkedDuration(nanos: bigint): Value {
  return nanos > int64Max || nanos < int64Min ? new CelError('integer overflow') : new CelDuration(nanos);
}

export function checkedTimestamp(epochNanos: bigint, offsetSeconds = 0): Value {
  const seconds = floorDivide(epochNanos, nanosPerSecond);
  if (seconds < epochSecondsMin || seconds > epochSecondsMax) return new CelError('timestamp overflow');
  return new CelTimestamp(epochNanos, offsetSeconds);
}

function addToDuration(a: CelDuration, b: Value): Value {
  if (b instanceof CelDuration) return checkedDuration(a.nanos + b.nanos);
  if (b instanceof CelTimestamp) return checkedTimestamp(b.epochNanos + a.nanos, b.offsetSeconds);
  return new CelError(noSuchOverload);
}

/** The message depends on whether the left operand supports the operation at all. */
function unsupportedOperation(name: string, left: Value): Value {
  return new CelError(supports(name, left) ? noSuchOverload : `${noSuchOverload}: ${name}`);
}

function supports(name: string, value: Value): boolean {
  if (typeof value === 'bigint' || value instanceof Uint || isReceiver(value)) return true;
  if (typeof value === 'number') return name !== '_%_';
  if (name === '_+_') {
    return value instanceof Uint8Array || isList(value);
  }
  return false;
}

/** Types that implement the receiver interface in cel-go, which has its own message for unknown operations. */
export function isReceiver(value: Value): boolean {
  return typeof value === 'string' || value instanceof CelTimestamp || value instanceof CelDuration;
}
