import { compareNumbers, isNumeric } from './ordering.ts';
import {
  CelDuration,
  CelError,
  CelTimestamp,
  isList,
  isMap,
  isOpaque,
  noSuchOverload,
  Optional,
  TypeValue,
  type Value,
} from './values.ts';

/**
 * Values of different types are not equal, but numbers of different types are compared by value. The result may be an
 * error, as a value.
 */
export function equals(a: Value, b: Value): Value {
  if (a === null || b === null) return a === b;
  if (isNumeric(a)) return isNumeric(b) && compareNumbers(a, b) === 0;
  if (typeof a === 'string' || typeof a === 'boolean') return a === b;
  return equalObjects(a, b);
}

function equalObjects(a: Value, b: Value): Value {
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0;
  if (a instanceof CelTimestamp) return b instanceof CelTimestamp && a.epochNanos === b.epochNanos;
  if (a instanceof CelDuration) return b instanceof CelDuration && a.nanos === b.nanos;
  if (a instanceof TypeValue) return b instanceof TypeValue && a.name === b.name;
  if (a instanceof Optional) return equalOptionals(a, b);
  if (isList(a)) return isList(b) ? a.equals(b) : mismatch(a, b);
  if (isMap(a)) return isMap(b) ? a.equals(b) : mismatch(a, b);
  if (isOpaque(a)) {
    return isOpaque(b) && a.typeName === b.typeName ? a.equals(b) : new CelError(noSuchOverload);
  }
  return a;
}

function equalOptionals(a: Optional, b: Value): Value {
  if (!(b instanceof Optional)) return false;
  if (a.value === undefined || b.value === undefined) return a.value === b.value;
  return equals(a.value, b.value);
}

/** Values from objects return an error for a mismatch; values that expressions create are just different. */
function mismatch(a: Value, b: Value): Value {
  const isFromObject = typeof a === 'object' && a !== null && 'isFromObject' in a;
  if (b instanceof CelError) return b;
  return isFromObject ? new CelError(noSuchOverload) : false;
}
