import type { Issues, Source } from './source.ts';

export type TokenKind =
  | 'int'
  | 'uint'
  | 'float'
  | 'string'
  | 'bytes'
  | 'identifier'
  | 'escaped identifier'
  | 'keyword'
  | 'symbol'
  | 'end';

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  /** Position in the expression, in code points. */
  readonly offset: number;
}

/** Splits a text into tokens. Text that is not a token is reported and skipped, as ANTLR does. */
export function tokenize(source: Source, issues: Issues): readonly Token[] {
  const tokens: Token[] = [];
  let offset = 0;
  const text = source.text;
  let unit = 0;
  while (unit < text.length) {
    const found = nextToken(text, unit);
    const taken = found === undefined ? unmatchedText(text, unit) : text.slice(unit, found.end);
    if (found === undefined) {
      issues.report(offset, `Syntax error: token recognition error at: '${taken}'`);
    } else if (found.kind !== 'blank') {
      tokens.push({ kind: found.kind, text: taken, offset });
    }
    unit += taken.length;
    offset += isAscii(taken) ? taken.length : Array.from(taken).length;
  }
  tokens.push({ kind: 'end', text: '<EOF>', offset });
  return tokens;
}

type TokenRule = readonly [kind: TokenKind | 'blank', pattern: RegExp];

const escapes = String.raw`\\(?:[abfnrtv"'\\?\x60]|[0-3][0-7][0-7]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})`;
const quoted = [
  String.raw`[rR]"""[\s\S]*?"""`,
  String.raw`[rR]'''[\s\S]*?'''`,
  String.raw`[rR]"[^"\n\r]*"`,
  String.raw`[rR]'[^'\n\r]*'`,
  String.raw`"""(?:${escapes}|[^\\])*?"""`,
  String.raw`'''(?:${escapes}|[^\\])*?'''`,
  String.raw`"(?:${escapes}|[^\\"\n\r])*"`,
  String.raw`'(?:${escapes}|[^\\'\n\r])*'`,
].join('|');

/** The longest match wins; of equally long ones, the first. */
const rules: readonly TokenRule[] = [
  ['blank', /[\t \r\n\f]+/y],
  ['blank', /\/\/[^\n]*/y],
  ['float', /\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?/y],
  ['uint', /(?:0x[0-9a-fA-F]+|\d+)[uU]/y],
  ['int', /0x[0-9a-fA-F]+|\d+/y],
  ['string', new RegExp(quoted, 'y')],
  ['bytes', new RegExp(`[bB](?:${quoted})`, 'y')],
  ['keyword', /(?:true|false|null|in)(?![A-Za-z0-9_])/y],
  ['identifier', /[A-Za-z_][A-Za-z0-9_]*/y],
  ['escaped identifier', /`[A-Za-z0-9_./ -]+`/y],
  ['symbol', /==|!=|<=|>=|&&|\|\||[<>[\]{}().,\-!?:+*/%]/y],
];

function nextToken(text: string, at: number): { kind: TokenKind | 'blank'; end: number } | undefined {
  let best: { kind: TokenKind | 'blank'; end: number } | undefined;
  for (const [kind, pattern] of rules) {
    pattern.lastIndex = at;
    if (pattern.test(text) && pattern.lastIndex > (best?.end ?? at)) best = { kind, end: pattern.lastIndex };
  }
  return best;
}

/**
 * The text that ANTLR's lexer has consumed when it finds that no token matches: everything up to and including the
 * character that does not fit.
 */
function unmatchedText(text: string, at: number): string {
  unfinished.lastIndex = at;
  const end = unfinished.test(text) ? unfinished.lastIndex : at;
  return text.slice(at, end) + (end < text.length ? String.fromCodePoint(text.codePointAt(end) ?? 0) : '');
}

const partialEscape = String.raw`(?:\\(?:[xX][0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|[0-3][0-7]?)?)?`;
const unfinished = new RegExp(
  [
    String.raw`"(?:${escapes}|[^\\"\n\r])*${partialEscape}`,
    String.raw`'(?:${escapes}|[^\\'\n\r])*${partialEscape}`,
    '`[A-Za-z0-9_./ -]*',
    '[=&|]',
  ].join('|'),
  'y',
);

function isAscii(text: string): boolean {
  return /^[\0-\x7f]*$/.test(text);
}
