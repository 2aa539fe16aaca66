/**
 * A number whose text matters because a double would lose it: `1.0` (not an integer to Go), `1e3` (a quantity with a
 * notation of its own), or more digits than a double holds. Only code that decodes request bodies sees these.
 */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  get value(): number {
    return Number(this.text);
  }

  get isInteger(): boolean {
    return /^-?\d+$/.test(this.text);
  }

  /** Whether a double cannot represent it: a whole number beyond 2^53, or a number beyond the range of doubles. */
  get isBeyondDouble(): boolean {
    return this.isInteger ? !Number.isSafeInteger(this.value) : !Number.isFinite(this.value);
  }
}

export function beyondDoubleMessage(path: string, text: string): string {
  const where = path === '' ? '' : `${path}: `;
  return `${where}the number ${text} is beyond 2^53, which this server can't hold exactly`;
}
