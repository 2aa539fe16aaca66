import { equals } from './equality.ts';
import { CelError, type ListValue, type MapValue, noSuchOverload, Uint, type Value } from './values.ts';

/**
 * A list that an expression creates. Lists share a common prefix: appending to the newest list extends the underlying
 * array, and older lists are not affected because they know their size. Macros build lists one element at a time;
 * copying each time would be quadratic.
 */
export class PlainList implements ListValue {
  readonly kind = 'list';
  readonly size: number;
  readonly #items: Value[];

  constructor(items: Value[], size = items.length) {
    this.#items = items;
    this.size = size;
  }

  at(index: number): Value {
    return this.#items[index] as Value;
  }

  equals(other: ListValue): Value {
    return equalItems(this, other);
  }

  concat(other: ListValue): Value {
    const items = this.#items.length === this.size ? this.#items : this.#items.slice(0, this.size);
    const added = Array.from({ length: other.size }, (_, index) => other.at(index));
    for (const item of added) items.push(item);
    return new PlainList(items);
  }
}

/** Compares element by element; an error of an element is the result. */
export function equalItems(a: ListValue, b: ListValue): Value {
  if (a.size !== b.size) return false;
  for (let index = 0; index < a.size; index++) {
    const equal = equals(a.at(index), b.at(index));
    if (equal !== true) return equal;
  }
  return true;
}

export function containsItem(list: ListValue, item: Value): Value {
  let error: Value | undefined;
  for (let index = 0; index < list.size; index++) {
    const equal = equals(list.at(index), item);
    if (equal === true) return true;
    if (typeof equal !== 'boolean') error ??= equal;
  }
  return error ?? false;
}

interface PlainEntry {
  readonly index: number;
  readonly key: Value;
  readonly value: Value;
}

/** A map that an expression creates; maps share common entries like lists. */
export class PlainMap implements MapValue {
  readonly kind = 'map';
  readonly size: number;
  readonly #entries: Map<string, PlainEntry>;

  private constructor(entries: Map<string, PlainEntry>) {
    this.#entries = entries;
    this.size = entries.size;
  }

  /** Creates a map. If two keys are equal, the later pair applies. */
  static of(pairs: Iterable<readonly [Value, Value]>): PlainMap {
    const entries = new Map<string, PlainEntry>();
    for (const [key, value] of pairs) {
      const text = keyText(key) ?? '';
      entries.set(text, { index: entries.get(text)?.index ?? entries.size, key, value });
    }
    return new PlainMap(entries);
  }

  find(key: Value): Value | undefined {
    const text = keyText(key);
    if (text === undefined) return undefined;
    const entry = this.#entries.get(text);
    return entry !== undefined && entry.index < this.size ? entry.value : undefined;
  }

  keys(): readonly Value[] {
    const keys: Value[] = [];
    for (const entry of this.#entries.values()) if (entry.index < this.size) keys.push(entry.key);
    return keys;
  }

  equals(other: MapValue): Value {
    if (this.size !== other.size) return false;
    for (const key of this.keys()) {
      const theirs = other.find(key);
      if (theirs === undefined) return false;
      const equal = equals(this.find(key) as Value, theirs);
      if (equal !== true) return equal;
    }
    return true;
  }

  /** This map with one more entry. */
  insert(key: Value, value: Value): Value {
    const text = keyText(key);
    if (text === undefined) return new CelError(`unsupported key type: ${String(key)}`);
    if (this.find(key) !== undefined)
      return new CelError(`insert failed: key ${formatKey(key)} already exists`);
    if (this.#entries.size !== this.size || this.#entries.has(text)) {
      return PlainMap.of([...this.keys().map((k) => [k, this.find(k) as Value] as const), [key, value]]);
    }
    this.#entries.set(text, { index: this.size, key, value });
    return new PlainMap(this.#entries);
  }
}

/** Equal numbers are the same key, whatever their types. */
function keyText(key: Value): string | undefined {
  switch (typeof key) {
    case 'string':
      return `s${key}`;
    case 'boolean':
      return key ? 'true' : 'false';
    case 'bigint':
      return `n${key}`;
    case 'number':
      return Number.isInteger(key) ? `n${BigInt(key)}` : `d${key}`;
    default:
      return key instanceof Uint ? `n${key.value}` : undefined;
  }
}

export function formatKey(key: Value): string {
  if (key instanceof Uint) return String(key.value);
  return key instanceof CelError ? noSuchOverload : String(key);
}
