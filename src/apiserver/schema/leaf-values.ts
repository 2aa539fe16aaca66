import { JsonNumber } from '../../kube/go/json-number.ts';
import { setKey } from '../../kube/go/json-value.ts';
import { canonicalMicroTime, canonicalTime, isZeroTime } from '../../kube/go/kubernetes-time.ts';
import { formatQuantity, parseQuantity } from '../../kube/quantities/quantity.ts';
import { withSortedKeysDeep } from '../../kube/sorted-keys.ts';
import type { LeafForm } from './type-table.ts';

/**
 * One function for each form of value: receives the value from JSON and returns what Go would encode, or undefined if
 * Go would refuse it. The value is never null. The result shares nothing with the input.
 */
export const leafReaders: Readonly<Record<LeafForm, (value: unknown) => unknown>> = {
  string: (value) => (typeof value === 'string' ? value : undefined),
  bool: (value) => (typeof value === 'boolean' ? value : undefined),
  int32: readInt32,
  int64: readInt64,
  float64: readFloat64,
  bytes: readBytes,
  quantity: readQuantity,
  time: (value) => (typeof value === 'string' ? nullIfZero(canonicalTime(value)) : undefined),
  microTime: (value) => (typeof value === 'string' ? nullIfZero(canonicalMicroTime(value)) : undefined),
  intOrString: (value) => (typeof value === 'string' ? value : readInt32(value)),
  rawExtension: copyJson,
  fieldsV1: copyJson,
  // Kubernetes keeps it in Go's maps, which are encoded with sorted keys.
  json: (value) => withSortedKeysDeep(copyJson(value)),
};

/** The value that Go encodes for an unset field of this form. */
export const leafZeros: Readonly<Record<LeafForm, unknown>> = {
  string: '',
  bool: false,
  int32: 0,
  int64: 0,
  float64: 0,
  bytes: null,
  quantity: '0',
  time: null,
  microTime: null,
  intOrString: 0,
  rawExtension: null,
  fieldsV1: null,
  json: null,
};

/**
 * A copy of plain JSON; undefined if it contains a number that a double cannot represent. `__proto__` stays an ordinary
 * key.
 */
export function copyJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof JsonNumber) return value.isOutOfRange ? undefined : value.plainValue;
  if (Array.isArray(value)) {
    const items = value.map(copyJson);
    return items.includes(undefined) ? undefined : items;
  }
  const copy: Record<string, unknown> = {};
  for (const [key, each] of Object.entries(value)) {
    const copied = copyJson(each);
    if (copied === undefined && each !== undefined) return undefined;
    if (copied !== undefined) setKey(copy, key, copied);
  }
  return copy;
}

function readInt32(value: unknown): number | undefined {
  // A whole number that survives the cut to 32 bits; adding 0 turns -0 into 0.
  return typeof value === 'number' && (value | 0) === value ? value + 0 : undefined;
}

function readInt64(value: unknown): number | bigint | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value + 0 : undefined;
  // Beyond 2^53. Go does not parse a literal such as 1.0 or 1e3 as an integer.
  if (typeof value === 'bigint') return value;
  return value instanceof JsonNumber ? value.int64 : undefined;
}

function readFloat64(value: unknown): number | undefined {
  const number =
    value instanceof JsonNumber ? value.value : typeof value === 'bigint' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

function readQuantity(value: unknown): string | undefined {
  const isExact = value instanceof JsonNumber || typeof value === 'bigint';
  const result = parseQuantity(isExact ? exactText(value) : value);
  return result.ok ? formatQuantity(result.quantity) : undefined;
}

function exactText(value: JsonNumber | bigint): string {
  return typeof value === 'bigint' ? String(value) : value.text;
}

/**
 * Go's base64 decoder ignores line ends and excess bits, and its encoder writes neither. Go also accepts a list of
 * bytes.
 */
function readBytes(value: unknown): string | undefined {
  if (Array.isArray(value)) {
    const isBytes = value.every((byte) => Number.isInteger(byte) && byte >= 0 && byte <= 255);
    return isBytes ? Buffer.from(value).toString('base64') : undefined;
  }
  if (typeof value !== 'string') return undefined;
  const canonical = Buffer.from(value, 'base64').toString('base64');
  if (canonical === value) return value;
  return base64ErrorAt(value) === undefined ? canonical : undefined;
}

/** The position of the first error that Go's decoder reports. */
export function base64ErrorAt(text: string): number | undefined {
  let digits = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 10 || char === 13) continue;
    if (char === 61) return paddingErrorAt(text, at, digits % 4);
    if (!isBase64Digit(char)) return at;
    digits += 1;
  }
  // Go reports the position after the last complete group.
  return digits % 4 === 0 ? undefined : text.length - (digits % 4);
}

function paddingErrorAt(text: string, at: number, digitsInGroup: number): number | undefined {
  if (digitsInGroup < 2) return at;
  const rest = text.slice(at).replaceAll(/[\r\n]/g, '');
  const wanted = digitsInGroup === 2 ? '==' : '=';
  if (rest === wanted) return undefined;
  return rest.startsWith(wanted) ? at + wanted.length : Math.min(at + 1, text.length);
}

function isBase64Digit(char: number): boolean {
  return (
    (char >= 65 && char <= 90) || (char >= 97 && char <= 122) || (char >= 47 && char <= 57) || char === 43
  );
}

function nullIfZero(time: string | undefined): string | null | undefined {
  return time !== undefined && isZeroTime(time) ? null : time;
}
