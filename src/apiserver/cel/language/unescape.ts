import { escapedCharacters } from '../../../kube/go/quote.ts';

/** The value of a quoted literal, or the error. `bytes` literals have no escapes for code points. */
export type Unescaped =
  | { readonly ok: true; readonly bytes: Uint8Array; readonly text: string }
  | { readonly ok: false; readonly problem: string };

const unable = 'unable to unescape string';

/** `literal` includes its quotes and its `r`, if any, but not the `b` of bytes. */
export function unescapeLiteral(literal: string, isBytes: boolean): Unescaped {
  let value = literal.replaceAll('\r\n', '\n').replaceAll('\r', '\n');
  const isRaw = /^[rR]/.test(value);
  if (isRaw) value = value.slice(1);
  const quotes = /^('''|""")/.test(value) && value.length >= 6 ? 3 : 1;
  const inner = value.slice(quotes, -quotes);
  if (isRaw || !inner.includes('\\')) return { ok: true, bytes: utf8(inner), text: inner };
  return unescapeInner(inner, isBytes);
}

const namedEscapes: Readonly<Record<string, string>> = {
  ...escapedCharacters,
  "'": "'",
  '"': '"',
  '`': '`',
  '?': '?',
};

function unescapeInner(inner: string, isBytes: boolean): Unescaped {
  const bytes: number[] = [];
  let rest = 0;
  const points = Array.from(inner);
  while (rest < points.length) {
    const point = points[rest] ?? '';
    if (point !== '\\') {
      bytes.push(...utf8(point));
      rest++;
      continue;
    }
    const escaped = readEscape(points, rest + 1, isBytes);
    if ('problem' in escaped) return { ok: false, problem: escaped.problem };
    bytes.push(...escaped.bytes);
    rest = escaped.next;
  }
  const all = Uint8Array.from(bytes);
  return { ok: true, bytes: all, text: new TextDecoder().decode(all) };
}

type Escape = { readonly bytes: Iterable<number>; readonly next: number } | { readonly problem: string };

function readEscape(points: readonly string[], at: number, isBytes: boolean): Escape {
  const letter = points[at];
  if (letter === undefined) return { problem: `${unable}, found '\\' as last character` };
  const named = namedEscapes[letter];
  if (named !== undefined) return { bytes: utf8(named), next: at + 1 };
  if (/[0-3]/.test(letter)) return readNumber(points, at, { digits: 3, base: 8, isBytes });
  if (letter === 'x' || letter === 'X') return readNumber(points, at + 1, { digits: 2, base: 16, isBytes });
  if (isBytes) return { problem: unable };
  if (letter === 'u') return readNumber(points, at + 1, { digits: 4, base: 16, isBytes });
  if (letter === 'U') return readNumber(points, at + 1, { digits: 8, base: 16, isBytes });
  return { problem: unable };
}

function readNumber(
  points: readonly string[],
  at: number,
  { digits, base, isBytes }: { readonly digits: number; readonly base: 8 | 16; readonly isBytes: boolean },
): Escape {
  const text = points.slice(at, at + digits).join('');
  const problem = base === 8 ? 'unable to unescape octal sequence in string' : unable;
  if (text.length !== digits || !(base === 8 ? /^[0-7]+$/ : /^[0-9a-fA-F]+$/).test(text)) return { problem };
  const code = Number.parseInt(text, base);
  if (isBytes) return { bytes: [code & 0xff], next: at + digits };
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return { problem: 'invalid unicode code point' };
  return { bytes: utf8(String.fromCodePoint(code)), next: at + digits };
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
