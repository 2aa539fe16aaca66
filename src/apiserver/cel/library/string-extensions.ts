import { namedEscapes } from '../../../kube/go/quote.ts';
import type { FunctionLibrary } from '../types/declarations.ts';
import { PlainList } from '../values/collections.ts';
import { CelError, itemsOf, type ListValue, type Value } from '../values/values.ts';
import { formatString } from './string-format.ts';

/** cel-go's string extensions, version 2. Indexes count code points. */
export const stringExtensionLibrary: FunctionLibrary = {
  signatures: `
    .charAt string_char_at_int (string, int) -> string
    .format string_format (string, list(dyn)) -> string
    .indexOf string_index_of_string (string, string) -> int
    .indexOf string_index_of_string_int (string, string, int) -> int
    .join list_join (list(string)) -> string
    .join list_join_string (list(string), string) -> string
    .lastIndexOf string_last_index_of_string (string, string) -> int
    .lastIndexOf string_last_index_of_string_int (string, string, int) -> int
    .lowerAscii string_lower_ascii (string) -> string
    .replace string_replace_string_string (string, string, string) -> string
    .replace string_replace_string_string_int (string, string, string, int) -> string
    .split string_split_string (string, string) -> list(string)
    .split string_split_string_int (string, string, int) -> list(string)
    strings.quote strings_quote (string) -> string
    .substring string_substring_int (string, int) -> string
    .substring string_substring_int_int (string, int, int) -> string
    .trim string_trim (string) -> string
    .upperAscii string_upper_ascii (string) -> string
  `,
  implementations: {
    string_char_at_int: (text, index) => charAt(text as string, index as bigint),
    string_index_of_string: (text, part) => indexOf(text as string, part as string, 0n),
    string_index_of_string_int: (text, part, from) => indexOf(text as string, part as string, from as bigint),
    string_last_index_of_string: (text, part) => lastIndexOf(text as string, part as string),
    string_last_index_of_string_int: (text, part, from) =>
      lastIndexFrom(text as string, part as string, from as bigint),
    string_lower_ascii: (text) => (text as string).replace(/[A-Z]+/g, (run) => run.toLowerCase()),
    string_upper_ascii: (text) => (text as string).replace(/[a-z]+/g, (run) => run.toUpperCase()),
    string_replace_string_string: (text, from, to) =>
      replace(text as string, from as string, to as string, -1),
    string_replace_string_string_int: (text, from, to, count) =>
      replace(text as string, from as string, to as string, Number(count)),
    string_split_string: (text, separator) => new PlainList(split(text as string, separator as string, -1)),
    string_split_string_int: (text, separator, count) =>
      new PlainList(split(text as string, separator as string, Number(count))),
    string_substring_int: (text, start) => substring(Array.from(text as string), start as bigint),
    string_substring_int_int: (text, start, end) =>
      substringTo(Array.from(text as string), start as bigint, end as bigint),
    string_trim: (text) => trim(text as string),
    list_join: (list) => join(list as ListValue, ''),
    list_join_string: (list, separator) => join(list as ListValue, separator as string),
    strings_quote: (text) => quote(text as string),
    string_format: (text, args) => formatString(text as string, itemsOf(args as ListValue)),
  },
};

/** Go's unicode.IsSpace. */
const blank = /[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

/** Character by character: a pattern for trailing blanks would backtrack for every run of blanks. */
function trim(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && blank.test(text[start] ?? '')) start++;
  while (end > start && blank.test(text[end - 1] ?? '')) end--;
  return text.slice(start, end);
}

function outOfRange(index: bigint): Value {
  return new CelError(`index out of range: ${index}`);
}

function charAt(text: string, index: bigint): Value {
  const points = Array.from(text);
  if (index < 0n || index > BigInt(points.length)) return outOfRange(index);
  return points[Number(index)] ?? '';
}

function indexOf(text: string, part: string, from: bigint): Value {
  if (part === '') return from;
  if (from < 0n) return outOfRange(from);
  const points = Array.from(text);
  const start = points.slice(0, Number(from)).join('').length;
  const found = from >= BigInt(points.length) ? -1 : text.indexOf(part, start);
  return found < 0 ? -1n : BigInt(Array.from(text.slice(0, found)).length);
}

function lastIndexOf(text: string, part: string): Value {
  const size = BigInt(Array.from(text).length);
  if (part === '') return size;
  return Buffer.byteLength(text) < Buffer.byteLength(part) ? -1n : lastIndexFrom(text, part, size - 1n);
}

function lastIndexFrom(text: string, part: string, from: bigint): Value {
  if (part === '') return from;
  if (from < 0n) return outOfRange(from);
  const points = Array.from(text);
  if (from >= BigInt(points.length)) return -1n;
  const start = points.slice(0, Number(from)).join('').length;
  const found = text.lastIndexOf(part, start);
  return found < 0 ? -1n : BigInt(Array.from(text.slice(0, found)).length);
}

/** A negative count replaces all occurrences. An empty text occurs before each code point and at the end. */
function replace(text: string, from: string, to: string, count: number): Value {
  if (count === 0 || from === to) return text;
  const max = count < 0 ? Number.POSITIVE_INFINITY : count;
  if (from === '') return replaceEmpty(Array.from(text), to, max);
  const parts = text.split(from);
  if (parts.length - 1 <= max) return parts.join(to);
  return [parts.slice(0, max + 1).join(to), ...parts.slice(max + 1)].join(from);
}

function replaceEmpty(points: readonly string[], to: string, max: number): Value {
  let result = '';
  points.forEach((point, index) => {
    result += (index < max ? to : '') + point;
  });
  return points.length < max ? result + to : result;
}

function split(text: string, separator: string, count: number): string[] {
  if (count === 0) return [];
  const parts = separator === '' ? Array.from(text) : text.split(separator);
  if (count < 0 || parts.length <= count) return parts;
  return [...parts.slice(0, count - 1), parts.slice(count - 1).join(separator)];
}

function substring(points: readonly string[], start: bigint): Value {
  if (start < 0n || start > BigInt(points.length)) return outOfRange(start);
  return points.slice(Number(start)).join('');
}

function substringTo(points: readonly string[], start: bigint, end: bigint): Value {
  if (start > end) return new CelError(`invalid substring range. start: ${start}, end: ${end}`);
  for (const index of [start, end]) {
    if (index < 0n || index > BigInt(points.length)) return outOfRange(index);
  }
  return points.slice(Number(start), Number(end)).join('');
}

function join(list: ListValue, separator: string): Value {
  const texts: string[] = [];
  for (const item of itemsOf(list)) {
    if (item instanceof CelError) return item;
    if (typeof item !== 'string') return new CelError(`join: invalid input: ${String(item)}`);
    texts.push(item);
  }
  return texts.join(separator);
}

/** Escapes only control characters with a name, the backslash and the quote. */
function quote(text: string): Value {
  let quoted = '';
  for (const point of text) quoted += point === '"' ? '\\"' : (namedEscapes[point] ?? point);
  return `"${quoted}"`;
}
