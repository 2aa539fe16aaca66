/** A text as Go's %q prints it: what a field error shows of a wrong text. */
export function goQuoted(text: string): string {
  if (isPlain(text)) return `"${text}"`;
  let printed = '';
  for (const rune of text) printed += quotedRune(rune);
  return `"${printed}"`;
}

/** A value as Go's encoding/json prints it: what means something to HTML is escaped. */
export function goJson(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Verbatim) return value.text;
  const json = JSON.stringify(value === undefined ? null : value);
  return json.replace(/[<>&\u2028\u2029]/gu, (letter) => unicodeEscape(letter.charCodeAt(0)));
}

/** Stands for a value that is to be shown just so. */
export class Verbatim {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A float64 as Go's %v prints it: with an exponent from a million on, and below a ten-thousandth. */
export function goFloat(value: number): string {
  const [digits = '', power = '0'] = value.toExponential().split('e');
  const exponent = Number(power);
  if (!Number.isFinite(value) || (exponent >= -4 && exponent < 6)) return String(value);
  return `${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

/** Go prints maps by key; null stands for none. */
export function byKey<V>(map: Readonly<Record<string, V>> | undefined): Readonly<Record<string, V>> | null {
  if (map === undefined) return null;
  return Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** How many bytes a text has in UTF-8: what Go calls its length. */
export function byteLength(text: string): number {
  return Buffer.byteLength(text);
}

const namedEscapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};

/** Go's unicode.IsPrint. */
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

export function isPrintable(rune: string): boolean {
  return printable.test(rune);
}

function isPlain(text: string): boolean {
  return /^[ !#-[\]-~]*$/.test(text);
}

function quotedRune(rune: string): string {
  const named = namedEscapes[rune];
  if (named !== undefined) return named;
  if (isPrintable(rune)) return rune;
  const code = rune.codePointAt(0) ?? 0;
  if (code < 0x80) return `\\x${hex(code, 2)}`;
  return code <= 0xffff ? unicodeEscape(code) : `\\U${hex(code, 8)}`;
}

function unicodeEscape(code: number): string {
  return `\\u${hex(code, 4)}`;
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}
