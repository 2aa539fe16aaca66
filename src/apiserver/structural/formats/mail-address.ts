import { isIpv6 } from '../../../kube/ip-address.ts';
import { isIpv4Format } from './addresses.ts';

/** One mail address, with or without a name: `a@example.com`, `Ann <a@example.com>`, as Go's net/mail parses it. */
export function isMailAddress(text: string): boolean {
  const reader = new AddressReader(text);
  return reader.address(true) === 1 && reader.skipComments() && reader.isAtEnd;
}

const specials = '()<>[]:;@\\,"';

/** Parses from left to right; returns undefined or false for text that it cannot parse. */
class AddressReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  /** The number of addresses: one, or those of a group, if groups are allowed. */
  address(allowsGroup: boolean): number | undefined {
    this.#skipSpace();
    if (this.isAtEnd) return undefined;
    if (this.#plainAddress()) {
      this.#skipSpace();
      return this.#peek() !== '(' || this.#comment() ? 1 : undefined;
    }
    if (this.#peek() !== '<' && !this.#phrase()) return undefined;
    this.#skipSpace();
    if (allowsGroup && this.#take(':')) return this.#group();
    return this.#take('<') && this.#plainAddress() && this.#take('>') ? 1 : undefined;
  }

  skipComments(): boolean {
    this.#skipSpace();
    while (this.#peek() === '(') {
      if (!this.#comment()) return false;
      this.#skipSpace();
    }
    return true;
  }

  #group(): number | undefined {
    this.#skipSpace();
    if (this.#take(';')) return this.skipComments() ? 0 : undefined;
    for (let count = 0; ; ) {
      const found = this.address(false);
      if (found === undefined || !this.skipComments()) return undefined;
      count += found;
      if (this.#take(';')) return this.skipComments() ? count : undefined;
      if (!this.#take(',')) return undefined;
    }
  }

  /** Does not advance if there is none. */
  #plainAddress(): boolean {
    const start = this.#at;
    if (this.#local() && this.#take('@') && this.#domain()) return true;
    this.#at = start;
    return false;
  }

  #local(): boolean {
    this.#skipSpace();
    if (this.#peek() !== '"') return isDotted(this.#atom());
    const quoted = this.#quoted();
    return quoted !== undefined && quoted !== '';
  }

  #domain(): boolean {
    this.#skipSpace();
    if (!this.#take('[')) return isDotted(this.#atom());
    const end = this.#text.indexOf(']', this.#at);
    if (end < 0) return false;
    const address = this.#text.slice(this.#at, end);
    this.#at = end + 1;
    return isIpv6(address) || (isIpv4Format(address) && !/(^|\.)0\d|:/.test(address));
  }

  /** The parts of a display name; after the first readable part, any text may follow. */
  #phrase(): boolean {
    for (let count = 0; ; count++) {
      if (count > 0 && !this.skipComments()) return false;
      this.#skipSpace();
      if (this.isAtEnd) return true;
      const start = this.#at;
      const isPart = this.#peek() === '"' ? this.#quoted() !== undefined : isReadable(this.#atom());
      if (isPart) continue;
      if (this.#text[start] === '"') this.#at = start;
      return count > 0;
    }
  }

  #atom(): string {
    const start = this.#at;
    while (!this.isAtEnd && isAtomLetter(this.#peek())) this.#at++;
    return this.#text.slice(start, this.#at);
  }

  #quoted(): string | undefined {
    let text = '';
    for (let at = this.#at + 1; at < this.#text.length; at++) {
      let letter = this.#text[at] as string;
      if (letter === '"') {
        this.#at = at + 1;
        return text;
      }
      if (letter === '\\') letter = this.#text[++at] ?? '';
      if (!isVisible(letter) && letter !== ' ' && letter !== '\t') return undefined;
      text += letter;
    }
    return undefined;
  }

  /** A comment in parentheses, which may be nested; a backslash escapes the next character. */
  #comment(): boolean {
    let depth = 0;
    for (; !this.isAtEnd; this.#at++) {
      const letter = this.#peek();
      if (letter === '\\' && this.#at + 1 < this.#text.length) this.#at++;
      else if (letter === '(') depth++;
      else if (letter === ')' && --depth === 0) {
        this.#at++;
        return true;
      }
    }
    return false;
  }

  #skipSpace(): void {
    while (this.#peek() === ' ' || this.#peek() === '\t') this.#at++;
  }

  #take(letter: string): boolean {
    if (this.#peek() !== letter) return false;
    this.#at++;
    return true;
  }

  #peek(): string {
    return this.#text[this.#at] ?? '';
  }
}

function isVisible(letter: string): boolean {
  return (letter >= '!' && letter <= '~') || letter >= '\u0080';
}

function isAtomLetter(letter: string): boolean {
  return isVisible(letter) && !specials.includes(letter);
}

/** Atoms separated by single dots. */
function isDotted(text: string): boolean {
  return text !== '' && !text.startsWith('.') && !text.endsWith('.') && !text.includes('..');
}

/** Go cannot decode an encoded word in an unknown charset. */
function isReadable(part: string): boolean {
  if (part === '') return false;
  const encoded = /^=\?([^?]*)\?[bq]\?[^?]*\?=$/i.exec(part);
  return encoded === null || ['utf-8', 'iso-8859-1', 'us-ascii'].includes((encoded[1] ?? '').toLowerCase());
}
