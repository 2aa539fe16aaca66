/** A text as Go's `%q` prints it. Field errors show wrong texts this way. */
export function goQuoted(text: string): string {
  if (/^[ !#-[\]-~]*$/.test(text)) return `"${text}"`;
  let printed = '';
  for (const rune of text) printed += rune === '"' ? '\\"' : escapedRune(rune);
  return `"${printed}"`;
}

/** A character as Go's `%q` prints a rune: `'a'`, `'\''`, `'\x00'`. */
export function goQuotedRune(rune: string): string {
  return rune === "'" ? "'\\''" : `'${escapedRune(rune)}'`;
}

/** The control characters that Go escapes by a letter, and the backslash. */
export const namedEscapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};

/** The same by the letter after the backslash. */
export const escapedCharacters: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(namedEscapes).map(([character, escaped]) => [escaped.slice(1), character]),
);

/** Go's unicode.IsPrint. */
export function isPrintable(rune: string): boolean {
  return printable.test(rune);
}

/** The number of bytes of a text in UTF-8: what Go calls its length. */
export function utf8Length(text: string): number {
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) length += 1;
    else if (unit < 0x800) length += 2;
    else if (isHighSurrogate(unit) && isLowSurrogate(text.charCodeAt(at + 1))) {
      length += 4;
      at++;
    } else length += 3;
  }
  return length;
}

/** The number of code points of a text: what Go's utf8.RuneCountInString returns. */
export function codePointCount(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length - 1; at++) {
    if (isHighSurrogate(text.charCodeAt(at)) && isLowSurrogate(text.charCodeAt(at + 1))) {
      count--;
      at++;
    }
  }
  return count;
}

/** `\u003c`, as Go and JSON write a UTF-16 unit by its number. */
export function unicodeEscape(unit: number): string {
  return `\\u${hex(unit, 4)}`;
}

const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

function escapedRune(rune: string): string {
  const named = namedEscapes[rune];
  if (named !== undefined) return named;
  if (isPrintable(rune)) return rune;
  const code = rune.codePointAt(0) ?? 0;
  if (code < 0x80) return `\\x${hex(code, 2)}`;
  return code <= 0xffff ? unicodeEscape(code) : `\\U${hex(code, 8)}`;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}
