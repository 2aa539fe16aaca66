import { parseGoDuration } from '../../../kube/go/duration.ts';
import { formatGoFloat, parseGoFloat } from '../../../kube/go/numbers.ts';
import { formatRfc3339 } from '../../../kube/go/rfc3339.ts';
import type { FunctionLibrary } from '../types/declarations.ts';
import { checkedInt, checkedTimestamp, checkedUint } from '../values/arithmetic.ts';
import { formatCelDuration, parseCelTimestamp } from '../values/times.ts';
import {
  CelDuration,
  CelError,
  type CelTimestamp,
  TypeValue,
  typeNameOf,
  Uint,
  type Value,
} from '../values/values.ts';

/** Conversions between types. */
export const conversionLibrary: FunctionLibrary = {
  signatures: `
    bool bool_to_bool (bool) -> bool
    bool string_to_bool (string) -> bool
    bytes bytes_to_bytes (bytes) -> bytes
    bytes string_to_bytes (string) -> bytes
    double double_to_double (double) -> double
    double int64_to_double (int) -> double
    double string_to_double (string) -> double
    double uint64_to_double (uint) -> double
    duration duration_to_duration (duration) -> duration
    duration int64_to_duration (int) -> duration
    duration string_to_duration (string) -> duration
    dyn to_dyn (A) -> dyn
    int int64_to_int64 (int) -> int
    int double_to_int64 (double) -> int
    int duration_to_int64 (duration) -> int
    int string_to_int64 (string) -> int
    int timestamp_to_int64 (timestamp) -> int
    int uint64_to_int64 (uint) -> int
    string string_to_string (string) -> string
    string bool_to_string (bool) -> string
    string bytes_to_string (bytes) -> string
    string double_to_string (double) -> string
    string duration_to_string (duration) -> string
    string int64_to_string (int) -> string
    string timestamp_to_string (timestamp) -> string
    string uint64_to_string (uint) -> string
    timestamp timestamp_to_timestamp (timestamp) -> timestamp
    timestamp int64_to_timestamp (int) -> timestamp
    timestamp string_to_timestamp (string) -> timestamp
    type type (A) -> type(A)
    uint uint64_to_uint64 (uint) -> uint
    uint double_to_uint64 (double) -> uint
    uint int64_to_uint64 (int) -> uint
    uint string_to_uint64 (string) -> uint
  `,
  implementations: {
    bool_to_bool: identity,
    string_to_bool: (text) => booleanTexts.get(text as string) ?? conversionError('string', 'bool'),
    bytes_to_bytes: identity,
    string_to_bytes: (text) => new TextEncoder().encode(text as string),
    double_to_double: identity,
    int64_to_double: (value) => Number(value),
    string_to_double: (text) => parseGoFloat(text as string) ?? conversionError('string', 'double'),
    uint64_to_double: (value) => Number((value as Uint).value),
    duration_to_duration: identity,
    int64_to_duration: (nanos) => new CelDuration(nanos as bigint),
    string_to_duration: toDuration,
    to_dyn: identity,
    int64_to_int64: identity,
    double_to_int64: (value) => doubleToInt(value as number),
    duration_to_int64: (value) => (value as CelDuration).nanos,
    string_to_int64: (text) => parseWholeNumber(text as string, /^[+-]?\d+$/, 'int'),
    timestamp_to_int64: (value) => secondsOf(value as CelTimestamp),
    uint64_to_int64: (value) => checkedInt((value as Uint).value),
    string_to_string: identity,
    bool_to_string: String,
    bytes_to_string: bytesToText,
    double_to_string: (value) => formatGoFloat(value as number),
    duration_to_string: (value) => formatCelDuration((value as CelDuration).nanos),
    int64_to_string: String,
    timestamp_to_string: (value) => formatRfc3339(value as CelTimestamp),
    uint64_to_string: (value) => String((value as Uint).value),
    timestamp_to_timestamp: identity,
    int64_to_timestamp: (seconds) => checkedTimestamp((seconds as bigint) * 1_000_000_000n),
    string_to_timestamp: (text) =>
      parseCelTimestamp(text as string) ?? conversionError('string', 'google.protobuf.Timestamp'),
    type: (value) => new TypeValue(typeNameOf(value)),
    uint64_to_uint64: identity,
    double_to_uint64: (value) => doubleToUint(value as number),
    int64_to_uint64: (value) => checkedUint(value as bigint),
    string_to_uint64: (text) => parseWholeNumber(text as string, /^\d+$/, 'uint'),
  },
};

function identity(value: Value): Value {
  return value;
}

const booleanTexts: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'TRUE', 'true', 'True'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'FALSE', 'false', 'False'].map((text) => [text, false] as const),
]);

function conversionError(from: string, to: string): CelError {
  return new CelError(`type conversion error from '${from}' to '${to}'`);
}

function toDuration(text: Value): Value {
  const nanos = parseGoDuration(text as string);
  return nanos === undefined ? conversionError('string', 'google.protobuf.Duration') : new CelDuration(nanos);
}

/** More digits, with a sign, than any number that fits. */
const digitsMax = 21;

function parseWholeNumber(text: string, pattern: RegExp, type: 'int' | 'uint'): Value {
  if (!pattern.test(text)) return conversionError('string', type);
  const digits = text.replace(/^\+/, '').replace(/^(-?)0+(?=\d)/, '$1');
  if (digits.length > digitsMax) return conversionError('string', type);
  const value = BigInt(digits);
  const converted = type === 'int' ? checkedInt(value) : checkedUint(value);
  return converted instanceof CelError ? conversionError('string', type) : converted;
}

function doubleToInt(value: number): Value {
  if (Number.isNaN(value) || value <= -(2 ** 63) || value >= 2 ** 63) return new CelError('integer overflow');
  return BigInt(Math.trunc(value));
}

function doubleToUint(value: number): Value {
  if (Number.isNaN(value) || value < 0 || value >= 2 ** 64) return new CelError('unsigned integer overflow');
  return new Uint(BigInt(Math.trunc(value)));
}

function secondsOf({ epochNanos }: CelTimestamp): bigint {
  return BigInt.asIntN(64, (epochNanos - (((epochNanos % nano) + nano) % nano)) / nano);
}

const nano = 1_000_000_000n;

function bytesToText(bytes: Value): Value {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes as Uint8Array);
  } catch {
    return new CelError('invalid UTF-8 in bytes, cannot convert to string');
  }
}
