import { type FieldPath, PathTable } from './field-path.ts';
import { type DuplicateKey, JsonParser } from './json-parser.ts';

export type { DuplicateKey } from './json-parser.ts';
export { JsonSyntaxError } from './json-parser.ts';

export interface JsonDocument {
  readonly value: unknown;
  /** Keys that occur twice in an object. As with JSON.parse, the last one applies. */
  readonly duplicates: readonly DuplicateKey[];
  /** If there are duplicates: the order in which paths first occur in the text. */
  readonly order: { get(path: FieldPath): number | undefined };
}

export interface JsonReadOptions {
  /**
   * Returns numbers that a double would change as {@link JsonNumber}. Otherwise integers beyond 2^53 are bigints, and
   * other numbers are rounded.
   */
  readonly keepsNumbers?: boolean;
}

/** Deeper than any API object; the limit keeps the recursion from overflowing the stack. */
export const jsonDepthMax = 1000;

/**
 * Reads JSON as Kubernetes does: duplicate keys are reported, errors have Go's messages ({@link JsonSyntaxError}),
 * 64-bit integers are exact, and `__proto__` is an ordinary key.
 *
 * JSON.parse does the work. A scan of the bytes beforehand counts the keys and looks for unusual numbers; if the value
 * has fewer keys than the text, or anything else is unusual, the slow {@link JsonParser} reads the text again.
 */
export function readJson(input: Uint8Array | string, options: JsonReadOptions = {}): JsonDocument {
  const bytes = typeof input === 'string' ? Buffer.from(input) : asBuffer(input);
  const keys = countKeys(bytes);
  const value = keys === unusual ? undefined : tryParse(bytes.toString('utf8'));
  if (value !== undefined && countOwnKeys(value) === keys) return { value, duplicates: [], order: noOrder };
  const parser = new JsonParser(bytes, {
    depthMax: jsonDepthMax,
    keepsNumbers: options.keepsNumbers === true,
  });
  return { value: parser.parse(), duplicates: parser.duplicates, order: parser.order };
}

/** Reads JSON of an API server, with its 64-bit integers. Only a text that contains one needs the slow parser. */
export function parseServerJson(text: string): unknown {
  if (!hasLongNumber(text)) return JSON.parse(text);
  return new JsonParser(Buffer.from(text), { depthMax: jsonDepthMax, keepsNumbers: false }).parse();
}

/** Integers beyond 2^53 have at least so many digits. */
const longDigits = 16;

/** Whether a number has so many digits that a double may not hold it. It has to check only every 16th character. */
function hasLongNumber(text: string): boolean {
  for (let at = longDigits - 1; at < text.length; at += longDigits) {
    if (!isDigit(text.charCodeAt(at))) continue;
    let start = at;
    while (isDigit(text.charCodeAt(start - 1))) start -= 1;
    while (isDigit(text.charCodeAt(at + 1))) at += 1;
    if (at - start + 1 >= longDigits && isNumberStart(text, start)) return true;
  }
  return false;
}

/** Whether the digits may be a number: texts such as uids contain digits too. */
function isNumberStart(text: string, start: number): boolean {
  const before = text[text[start - 1] === '-' ? start - 2 : start - 1] ?? ',';
  return before === ':' || before === ',' || before === '[' || before <= ' ';
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

const unusual = -1;
export const noOrder: JsonDocument['order'] = new PathTable<number>();

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The slow parser finds the same error, and has Go's message for it.
    return undefined;
  }
}

/** The number of keys of the text, or `unusual`. It need not detect syntax errors: JSON.parse does. */
function countKeys(bytes: Uint8Array): number {
  let keys = 0;
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte === 0x22) at = endOfString(bytes, at);
    else if (byte === 0x3a) keys += 1;
    else if (byte === 0x7b || byte === 0x5b) {
      depth += 1;
      if (depth > jsonDepthMax) return unusual;
    } else if (byte === 0x7d || byte === 0x5d) depth -= 1;
    else if (byte === 0x2d || (byte >= 0x30 && byte <= 0x39)) {
      at = endOfNumber(bytes, at);
      if (at === unusual) return unusual;
    }
  }
  return keys;
}

function endOfString(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== 0x22) at += bytes[at] === 0x5c ? 2 : 1;
  return at;
}

/** The index of the last character of a number that a double represents exactly as written, otherwise `unusual`. */
function endOfNumber(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  let hasPoint = false;
  for (; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte === 0x2e) hasPoint = true;
    else if (byte === 0x65 || byte === 0x45) return unusual;
    else if (byte < 0x30 || byte > 0x39) break;
  }
  if (at - start > 15 || (hasPoint && bytes[at - 1] === 0x30)) return unusual;
  return at - 1;
}

function countOwnKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const each of value) if (typeof each === 'object') count += countOwnKeys(each);
    return count;
  }
  const object = value as Record<string, unknown>;
  for (const key in object) {
    count += 1;
    const each = object[key];
    if (typeof each === 'object') count += countOwnKeys(each);
  }
  return count;
}
