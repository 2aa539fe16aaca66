import { int64Of } from './int64.ts';

/**
 * A number whose text matters because a double would lose it: `1.0` (not an integer to Go), `1e3` (a quantity with a
 * notation of its own), or more digits than a double holds. Only code that decodes request bodies sees these; in decoded
 * objects, integers beyond 2^53 are bigints.
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

  /** Whether it is beyond the range of doubles, so that Go's decoder refuses it too. */
  get isOutOfRange(): boolean {
    return !Number.isFinite(this.value);
  }

  /**
   * The value as Kubernetes decodes it where no type is given: whole numbers are int64 if they fit, all other numbers are
   * doubles.
   */
  get plainValue(): number | bigint {
    return this.int64 ?? this.value + 0;
  }

  /** The value as an int64: a number if it is below 2^53, otherwise a bigint. Undefined if it is not an int64. */
  get int64(): number | bigint | undefined {
    // The length is checked first: converting many digits to a bigint takes long.
    if (this.text.length > int64DigitsMax || !this.isInteger) return undefined;
    return int64Of(BigInt(this.text));
  }
}

const int64DigitsMax = 20;

/** Go's message for a number beyond the range of doubles. */
export function outOfRangeMessage(text: string): string {
  return `json: cannot unmarshal number ${text.slice(0, 40)} into Go value of type float64`;
}
