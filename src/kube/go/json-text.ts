import { withSortedKeysDeep } from '../sorted-keys.ts';
import { unicodeEscape } from './quote.ts';

/** JSON.stringify, with 64-bit integers. */
export function jsonText(value: unknown, indent = 0): string {
  try {
    return JSON.stringify(value, undefined, indent);
  } catch (error) {
    // JSON.stringify refuses bigints. Few objects contain one, so the others need no second pass.
    if (!(error instanceof TypeError)) throw error;
    return exactText(value, ' '.repeat(indent), '');
  }
}

function exactText(value: unknown, indent: string, margin: string): string {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const inner = margin + indent;
  if (Array.isArray(value)) {
    return enclosed(
      '[',
      value.map((each) => exactText(each, indent, inner)),
      ']',
      { indent, margin },
    );
  }
  const separator = indent === '' ? ':' : ': ';
  const fields = Object.entries(value).filter(([, each]) => each !== undefined);
  const texts = fields.map(([key, each]) => JSON.stringify(key) + separator + exactText(each, indent, inner));
  return enclosed('{', texts, '}', { indent, margin });
}

interface Layout {
  readonly indent: string;
  readonly margin: string;
}

function enclosed(open: string, parts: readonly string[], close: string, { indent, margin }: Layout): string {
  if (parts.length === 0) return open + close;
  if (indent === '') return open + parts.join(',') + close;
  const line = `\n${margin}${indent}`;
  return `${open}${line}${parts.join(`,${line}`)}\n${margin}${close}`;
}

/** JSON with sorted keys, in the form that Go's encoding/json prints: equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return withHtmlEscaped(jsonText(withSortedKeysDeep(value)));
}

/** A value as Go's encoding/json prints it: characters with a meaning in HTML are escaped. */
export function formatGoJson(value: unknown): string {
  if (value instanceof VerbatimJson) return value.text;
  return withHtmlEscaped(jsonText(value === undefined ? null : value));
}

/** A value whose JSON is already known, such as a number in Go's notation. */
export class VerbatimJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

function withHtmlEscaped(json: string): string {
  return json.replace(/[<>&\u2028\u2029]/gu, (letter) => unicodeEscape(letter.charCodeAt(0)));
}
