/**
 * A number whose text matters because a double would forget it: `1.0` (no integer to Go), `1e3` (a quantity with a spelling
 * of its own), or more digits than a double holds. Only the decoding of typed bodies meets these.
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

  /** Whether a double would lie: a whole number beyond 2^53, or more than a double can say. */
  get isBeyondDouble(): boolean {
    return this.isInteger ? !Number.isSafeInteger(this.value) : !Number.isFinite(this.value);
  }
}

/** What JSON writes in braces. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber)
  );
}

export function beyondDouble(path: string, text: string): string {
  const where = path === '' ? '' : `${path}: `;
  return `${where}the number ${text} is beyond 2^53, which this server can't hold exactly`;
}

/** Assignment to `__proto__` would change the object's prototype instead. */
export function setKey(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') target[key] = value;
  else Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

/** How Go's messages call a value of JSON. */
export function valueName(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return value instanceof JsonNumber ? 'number' : typeof value;
}
