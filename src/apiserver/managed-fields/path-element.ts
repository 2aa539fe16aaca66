import { jsonText } from '../../kube/go/json-text.ts';
import type { Json, JsonObject } from '../../kube/go/json-value.ts';
import { isJsonArray, isJsonObject, ownValue } from '../../kube/go/json-value.ts';
import { unicodeEscape } from '../../kube/go/quote.ts';
import { compareUtf8, sortedKeys } from '../../kube/sorted-keys.ts';
import type { ListKey } from '../patch/merge-shape.ts';
import { parseServerJson, readJson } from '../schema/json-reader.ts';

/**
 * One element of a path, in the notation of managedFields: `f:name` is a field, `k:{"name":"web"}` the list element
 * with this key, `v:"a"` the member of a set, `i:3` an element by position.
 */
export type PathElement = string;

/** Kubernetes' order of path elements, which is the order of managedFields. */
export function compareElements(a: PathElement, b: PathElement): number {
  if (a === b) return 0;
  const kind = a.charCodeAt(0);
  if (kind !== b.charCodeAt(0)) return kinds.indexOf(a[0]!) - kinds.indexOf(b[0]!);
  if (kind === fieldCode) return compareUtf8(a, b);
  if (kind === keyCode) return compareKeys(parsedKey(a), parsedKey(b));
  if (kind === indexCode) return Number(a.slice(2)) - Number(b.slice(2));
  return compareValues(parsedRest(a), parsedRest(b));
}

const kinds = 'fkvi';
const fieldCode = 'f'.charCodeAt(0);
const keyCode = 'k'.charCodeAt(0);
const indexCode = 'i'.charCodeAt(0);

/** Undefined if the item has none of the keys, and so has no identity. */
export function keyElement(item: Json, keys: readonly ListKey[]): PathElement | undefined {
  if (!isJsonObject(item)) return undefined;
  let text = '';
  for (const { name, whenAbsent } of keys) {
    const value = ownValue(item, name) ?? whenAbsent;
    if (value !== undefined) text += `${text === '' ? '' : ','}"${name}":${valueText(value)}`;
  }
  return text === '' ? undefined : `k:{${text}}`;
}

/** Undefined if the item cannot be a member of a set. */
export function valueElement(item: Json): PathElement | undefined {
  return typeof item === 'object' ? undefined : `v:${valueText(item)}`;
}

/**
 * The same path element in canonical notation. Undefined for unknown kinds of elements, which are to be ignored; throws
 * for texts that are not path elements.
 */
export function canonicalElement(text: string): PathElement | undefined {
  if (text[1] !== ':') throw new Error(`not a path element: ${JSON.stringify(text)}`);
  const rest = text.slice(2);
  switch (text[0]) {
    case 'f':
      return text;
    case 'k':
      return canonicalKey(readJson(rest).value);
    case 'v':
      return `v:${valueText(readJson(rest).value as Json)}`;
    case 'i':
      if (!/^[+-]?\d{1,15}$/.test(rest)) throw new Error(`not an index: ${JSON.stringify(text)}`);
      return `i:${Number(rest)}`;
    default:
      return undefined;
  }
}

function canonicalKey(key: unknown): PathElement {
  if (!isJsonObject(key)) throw new Error('the key of a list element must be an object');
  const names = sortedKeys(key);
  return `k:{${names.map((name) => `${JSON.stringify(name)}:${valueText(key[name]!)}`).join(',')}}`;
}

/**
 * JSON as Kubernetes' encoder for managedFields writes it: characters with a meaning in HTML are escaped, and so are
 * backspace and form feed.
 */
function valueText(value: Json): string {
  const text = jsonText(value);
  return isNumber(value) || !unsafe.test(text) ? text : text.replace(unsafeAll, escaped);
}

const unsafe = /[<>&\u2028\u2029]|\\[bf]/;
const unsafeAll = /[<>&\u2028\u2029]|\\[bf\\]/g;

function escaped(match: string): string {
  if (match === '\\\\') return match;
  if (match === '\\b') return '\\u0008';
  if (match === '\\f') return '\\u000c';
  return unicodeEscape(match.charCodeAt(0));
}

function parsedRest(element: PathElement): Json {
  return parseServerJson(element.slice(2)) as Json;
}

function parsedKey(element: PathElement): JsonObject {
  return parsedRest(element) as JsonObject;
}

function isNumber(value: Json): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

function compareNumbers(a: number | bigint, b: number | bigint): number {
  if (a < b) return -1;
  return a > b ? 1 : 0;
}

function compareKeys(a: JsonObject, b: JsonObject): number {
  const [left, right] = [Object.keys(a), Object.keys(b)];
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const order = compareUtf8(left[i]!, right[i]!) || compareValues(a[left[i]!]!, b[right[i]!]!);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

function compareValues(a: Json, b: Json): number {
  const order = valueRank(a) - valueRank(b);
  if (order !== 0) return order;
  if (isNumber(a)) return compareNumbers(a, b as number | bigint);
  if (typeof a === 'string') return compareUtf8(a, b as string);
  if (typeof a === 'boolean') return Number(a) - Number(b);
  return compareUtf8(jsonText(a), jsonText(b));
}

function valueRank(value: Json): number {
  if (isNumber(value)) return 0;
  if (typeof value === 'string') return 1;
  if (typeof value === 'boolean') return 2;
  return isJsonArray(value) ? 3 : value === null ? 5 : 4;
}
