import { withSortedKeys } from '../sorted-keys.ts';
import { unicodeEscape } from './quote.ts';

/** JSON with sorted keys, in the form that Go's encoding/json prints: equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  const json = JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner) ? withSortedKeys(inner) : inner,
  );
  return withHtmlEscaped(json);
}

/** A value as Go's encoding/json prints it: characters with a meaning in HTML are escaped. */
export function formatGoJson(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (value instanceof VerbatimJson) return value.text;
  return withHtmlEscaped(JSON.stringify(value === undefined ? null : value));
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
