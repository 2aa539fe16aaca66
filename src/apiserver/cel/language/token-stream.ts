import type { Token } from './lexer.ts';
import type { Issues } from './source.ts';

/** The issue is reported; parsing cannot continue. */
export class ParsingAborted extends Error {}

/**
 * A stream of tokens with ANTLR's error recovery: one superfluous token is skipped, one missing token is assumed to be
 * present, and both are reported.
 */
export class TokenStream {
  readonly #tokens: readonly Token[];
  readonly #issues: Issues;
  #position = 0;

  constructor(tokens: readonly Token[], issues: Issues) {
    this.#tokens = tokens;
    this.#issues = issues;
  }

  peek(ahead = 0): Token {
    const last = this.#tokens.length - 1;
    return this.#tokens[Math.min(this.#position + ahead, last)] as Token;
  }

  next(): Token {
    const token = this.peek();
    this.#position++;
    return token;
  }

  take(symbol: string): Token | undefined {
    const token = this.peek();
    return token.kind === 'symbol' && token.text === symbol ? this.next() : undefined;
  }

  takeOneOf(texts: ReadonlySet<string>): Token | undefined {
    const token = this.peek();
    const isOperator = token.kind === 'symbol' || token.kind === 'keyword';
    return isOperator && texts.has(token.text) ? this.next() : undefined;
  }

  /** The name after a dot. */
  takeName(dot: Token): Token {
    const token = this.peek();
    if (token.kind === 'identifier' || token.kind === 'escaped identifier') return this.next();
    if (['true', 'false', 'null'].includes(token.text) && token.kind === 'keyword') {
      return this.#fail(`mismatched input '${token.text}' expecting IDENTIFIER`);
    }
    return this.#fail(
      `no viable alternative at input '${dot.text}${token.kind === 'end' ? '' : token.text}'`,
    );
  }

  /** The name after `.?`. */
  takeOptionalName(): Token {
    const token = this.peek();
    if (token.kind === 'identifier' || token.kind === 'escaped identifier') return this.next();
    this.#report(`mismatched input '${token.text}' expecting {IDENTIFIER, ESC_IDENTIFIER}`);
    this.#issues.report(token.offset, 'unsupported ident kind');
    throw new ParsingAborted();
  }

  /** The name of a field in a message. */
  takeField(): Token {
    const token = this.peek();
    if (token.kind === 'identifier' || token.kind === 'escaped identifier') return this.next();
    return this.#fail(
      `mismatched input '${token.text}' expecting {'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}`,
    );
  }

  expect(symbol: string): Token {
    const taken = this.take(symbol);
    if (taken !== undefined) return taken;
    const token = this.peek();
    if (isSymbol(this.peek(1), symbol)) {
      this.#report(`extraneous input '${token.text}' expecting '${symbol}'`);
      this.#position++;
      return this.next();
    }
    if (symbol === ':' ? startsOperand(token) : canFollowOperand(token)) {
      this.#report(`missing '${symbol}' at '${token.text}'`);
      return token;
    }
    return this.#fail(`mismatched input '${token.text}' expecting '${symbol}'`);
  }

  expectComma(close: string): void {
    if (this.take(',') !== undefined) return;
    const next = this.peek(1);
    if (isSymbol(next, close) || isSymbol(next, ',')) {
      this.#report(`extraneous input '${this.peek().text}' expecting {'${close}', ','}`);
      this.#position++;
      this.take(',');
      return;
    }
    this.#fail(`mismatched input '${this.peek().text}' expecting {'${close}', ','}`);
  }

  expectEnd(): void {
    const token = this.peek();
    if (token.kind === 'end') return;
    const what = this.peek(1).kind === 'end' ? 'extraneous' : 'mismatched';
    this.#report(`${what} input '${token.text}' expecting <EOF>`);
  }

  /** Checks the operand after signs; at the end of the text, ANTLR has special messages. */
  expectSigned(sign: string): void {
    if (this.peek().kind !== 'end') {
      this.expectOperand();
      return;
    }
    if (sign === '!') this.#fail(`extraneous input '<EOF>' expecting {${expectedOperand([])}}`);
    this.#report(`no viable alternative at input '${sign}'`);
    this.#fail(`mismatched input '<EOF>' expecting {${expectedOperand([])}}`);
  }

  /** Whether an element of a list or a map can start here. */
  canStartItem(): boolean {
    const token = this.peek();
    return startsOperand(token) || isSymbol(token, '?');
  }

  /** `also` lists the tokens that are valid here besides the start of an operand. */
  expectOperand(...also: readonly string[]): void {
    const token = this.peek();
    if (startsOperand(token) || also.includes(`'${token.text}'`)) return;
    const expected = expectedOperand(also);
    const next = this.peek(1);
    if (!startsOperand(next) && !also.includes(`'${next.text}'`))
      this.#fail(`mismatched input '${token.text}' expecting {${expected}}`);
    this.#report(`extraneous input '${token.text}' expecting {${expected}}`);
    this.#position++;
  }

  #fail(message: string): never {
    this.#report(message);
    throw new ParsingAborted(message);
  }

  #report(message: string): void {
    this.#issues.report(this.peek().offset, `Syntax error: ${message}`);
  }
}

/** Tokens that may start an operand. Messages list them in this order, the order of the grammar. */
const operandStarts = [
  "'['",
  "']'",
  "'{'",
  "'}'",
  "'('",
  "')'",
  "'.'",
  "','",
  "'-'",
  "'!'",
  "'?'",
  "'true'",
  "'false'",
  "'null'",
  'NUM_FLOAT',
  'NUM_INT',
  'NUM_UINT',
  'STRING',
  'BYTES',
  'IDENTIFIER',
] as const;
const optionalStarts: ReadonlySet<string> = new Set(["']'", "'}'", "')'", "','", "'?'"]);

function expectedOperand(also: readonly string[]): string {
  return operandStarts.filter((start) => !optionalStarts.has(start) || also.includes(start)).join(', ');
}

function startsOperand(token: Token): boolean {
  switch (token.kind) {
    case 'symbol':
      return ['[', '{', '(', '.', '-', '!'].includes(token.text);
    case 'keyword':
      return token.text !== 'in';
    case 'end':
    case 'escaped identifier':
      return false;
    default:
      return true;
  }
}

function canFollowOperand(token: Token): boolean {
  if (token.kind === 'end') return true;
  return token.kind === 'symbol' ? !['{', '(', '!', ','].includes(token.text) : token.text === 'in';
}

function isSymbol(token: Token, symbol: string): boolean {
  return token.kind === 'symbol' && token.text === symbol;
}
