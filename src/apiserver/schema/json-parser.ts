import { JsonNumber, outOfRangeMessage } from '../../kube/go/json-number.ts';
import { setKey } from '../../kube/go/json-value.ts';
import { goQuotedRune } from '../../kube/go/quote.ts';
import { FieldPath, PathTable } from './field-path.ts';

/** An error with the message of Go's decoder. */
export class JsonSyntaxError extends Error {}

export interface DuplicateKey {
  readonly path: FieldPath;
  /** The index among all keys of the text, from 0. */
  readonly position: number;
}

export interface JsonParserOptions {
  readonly depthMax: number;
  /** Returns numbers that a double would change as {@link JsonNumber}. */
  readonly keepsNumbers: boolean;
}

/**
 * A plain recursive parser for texts about which JSON.parse reports too little. It works on bytes because Go's messages
 * do. At the end of the text it behaves as if a blank followed, as Go does: `nul` then has an invalid character ' ',
 * and `[` an unexpected end.
 */
export class JsonParser {
  readonly duplicates: DuplicateKey[] = [];
  /** The position of the first key with a path, for the first keys of the text. */
  readonly order = new PathTable<number>();
  readonly #bytes: Buffer;
  readonly #options: JsonParserOptions;
  #at = 0;
  #depth = 0;
  #keys = 0;

  constructor(bytes: Buffer, options: JsonParserOptions) {
    this.#bytes = bytes;
    this.#options = options;
  }

  parse(): unknown {
    const value = this.#value(FieldPath.root);
    this.#skipBlanks();
    if (this.#at < this.#bytes.length) throw this.#invalid('after top-level value');
    return value;
  }

  #value(path: FieldPath): unknown {
    const byte = this.#token();
    if (byte === quoteMark) return this.#string();
    if (byte === openBrace) return this.#nested(() => this.#object(path));
    if (byte === openBracket) return this.#nested(() => this.#list(path));
    if (byte === minus || isDigit(byte)) return this.#number();
    const literal = literals.get(byte);
    if (literal === undefined) throw this.#invalid('looking for beginning of value');
    for (const expected of literal.text) {
      const where = `in literal ${literal.text} (expecting '${expected}')`;
      if (this.#peek() !== expected.charCodeAt(0)) throw this.#invalid(where);
      this.#at += 1;
    }
    return literal.value;
  }

  #nested(read: () => unknown): unknown {
    this.#depth += 1;
    if (this.#depth > this.#options.depthMax) throw this.#invalid('exceeded max depth');
    this.#at += 1;
    const value = read();
    this.#depth -= 1;
    return value;
  }

  #object(path: FieldPath): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    if (this.#isNext(closeBrace)) return object;
    for (;;) {
      if (this.#token() !== quoteMark) throw this.#invalid('looking for beginning of object key string');
      const key = this.#string();
      const keyPath = path.child(key);
      this.#noteKey(keyPath, Object.hasOwn(object, key));
      if (this.#token() !== colon) throw this.#invalid('after object key');
      this.#at += 1;
      setKey(object, key, this.#value(keyPath));
      if (this.#isNext(closeBrace)) return object;
      if (this.#peek() !== comma) throw this.#invalid('after object key:value pair');
      this.#at += 1;
    }
  }

  #noteKey(path: FieldPath, isDuplicate: boolean): void {
    const position = this.#keys++;
    if (isDuplicate) this.duplicates.push({ path, position });
    if (position < orderMax) this.order.add(path, position);
  }

  #list(path: FieldPath): unknown[] {
    const list: unknown[] = [];
    if (this.#isNext(closeBracket)) return list;
    for (;;) {
      list.push(this.#value(path.child(list.length)));
      if (this.#isNext(closeBracket)) return list;
      if (this.#peek() !== comma) throw this.#invalid('after array element');
      this.#at += 1;
    }
  }

  #string(): string {
    const start = this.#at;
    this.#at += 1;
    for (; this.#peek() !== quoteMark; this.#at++) {
      if (this.#at >= this.#bytes.length) throw unexpectedEnd();
      if (this.#peek() < blank) throw this.#invalid('in string literal');
      if (this.#peek() === backslash) this.#escape();
    }
    this.#at += 1;
    return JSON.parse(this.#bytes.toString('utf8', start, this.#at)) as string;
  }

  /** Ends on the last character of the escape. */
  #escape(): void {
    this.#at += 1;
    if (this.#peek() !== letterU) {
      if (!'"\\/bfnrt'.includes(String.fromCharCode(this.#peek())))
        throw this.#invalid('in string escape code');
      return;
    }
    for (let digits = 0; digits < 4; digits++) {
      this.#at += 1;
      if (!/[0-9a-fA-F]/.test(String.fromCharCode(this.#peek())))
        throw this.#invalid('in \\u hexadecimal character escape');
    }
  }

  #number(): number | bigint | JsonNumber {
    const start = this.#at;
    if (this.#peek() === minus) this.#at += 1;
    if (this.#peek() === zero) this.#at += 1;
    else this.#digits('in numeric literal');
    if (this.#peek() === point) {
      this.#at += 1;
      this.#digits('after decimal point in numeric literal');
    }
    if (this.#peek() === 0x65 || this.#peek() === 0x45) {
      this.#at += 1;
      if (this.#peek() === minus || this.#peek() === plus) this.#at += 1;
      this.#digits('in exponent of numeric literal');
    }
    return this.#numberOf(this.#bytes.toString('latin1', start, this.#at));
  }

  #numberOf(text: string): number | bigint | JsonNumber {
    const value = Number(text);
    if (text === '-0') return 0;
    if (String(value) === text && (Number.isSafeInteger(value) || !Number.isInteger(value))) return value;
    const number = new JsonNumber(text);
    if (this.#options.keepsNumbers) return number;
    if (number.isOutOfRange) throw new JsonSyntaxError(outOfRangeMessage(text));
    return number.plainValue;
  }

  #digits(where: string): void {
    if (!isDigit(this.#peek())) throw this.#invalid(where);
    while (isDigit(this.#peek())) this.#at += 1;
  }

  #isNext(byte: number): boolean {
    if (this.#token() !== byte) return false;
    this.#at += 1;
    return true;
  }

  /** The next byte that is not a blank. */
  #token(): number {
    this.#skipBlanks();
    if (this.#at >= this.#bytes.length) throw unexpectedEnd();
    return this.#peek();
  }

  #peek(): number {
    return this.#bytes[this.#at] ?? blank;
  }

  #skipBlanks(): void {
    while (this.#at < this.#bytes.length && isBlank(this.#peek())) this.#at += 1;
  }

  #invalid(where: string): JsonSyntaxError {
    return new JsonSyntaxError(
      `invalid character ${goQuotedRune(String.fromCharCode(this.#peek()))} ${where}`,
    );
  }
}

/** So many keys are enough to sort the problems of an ordinary body; a hostile one must not take more memory. */
const orderMax = 10_000;

const blank = 0x20;
const quoteMark = 0x22;
const plus = 0x2b;
const comma = 0x2c;
const minus = 0x2d;
const point = 0x2e;
const zero = 0x30;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const letterU = 0x75;
const openBrace = 0x7b;
const closeBrace = 0x7d;

const literals = new Map<number, { readonly text: string; readonly value: boolean | null }>([
  [0x74, { text: 'true', value: true }],
  [0x66, { text: 'false', value: false }],
  [0x6e, { text: 'null', value: null }],
]);

function isDigit(byte: number): boolean {
  return byte >= zero && byte <= 0x39;
}

function isBlank(byte: number): boolean {
  return byte === blank || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function unexpectedEnd(): JsonSyntaxError {
  return new JsonSyntaxError('unexpected end of JSON input');
}
