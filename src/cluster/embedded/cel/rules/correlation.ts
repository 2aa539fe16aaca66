import type { JsonSchema } from '../../structural/json-schema.ts';

/** A value and what it was before, where that can be told. */
export class Correlation {
  readonly value: unknown;
  readonly old: unknown;
  readonly #schema: JsonSchema;
  readonly #children = new Map<string | number, Correlation | undefined>();
  #isEqual: boolean | undefined;

  constructor(value: unknown, old: unknown, schema: JsonSchema) {
    this.value = value;
    this.old = old;
    this.#schema = schema;
  }

  key(name: string): Correlation | undefined {
    return this.#child(name, () => this.#correlateKey(name));
  }

  index(index: number): Correlation | undefined {
    return this.#child(index, () => this.#correlateIndex(index));
  }

  /** Nothing has changed, as far as the schema lets us compare. */
  get isUnchanged(): boolean {
    this.#isEqual ??= this.#compare();
    return this.#isEqual;
  }

  #child(name: string | number, find: () => Correlation | undefined): Correlation | undefined {
    if (!this.#children.has(name)) this.#children.set(name, find());
    return this.#children.get(name);
  }

  #correlateKey(name: string): Correlation | undefined {
    const { value, old } = this;
    if (!isObject(value) || !isObject(old)) return undefined;
    if (!Object.hasOwn(value, name) || !Object.hasOwn(old, name)) return undefined;
    const { properties, additionalProperties } = this.#schema;
    const property =
      properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
    const schema = property ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined);
    return schema === undefined ? undefined : new Correlation(value[name], old[name], schema);
  }

  #correlateIndex(index: number): Correlation | undefined {
    const { value, old } = this;
    const { items } = this.#schema;
    if (!Array.isArray(value) || !Array.isArray(old) || items === undefined) return undefined;
    if (this.#schema['x-kubernetes-list-type'] !== 'map') return undefined;
    const match = mapListOf(this.#schema, old).get(value[index]);
    return match === undefined ? undefined : new Correlation(value[index], match, items);
  }

  #compare(): boolean {
    const { value, old } = this;
    if (value === null || value === undefined || old === null || old === undefined) {
      return (value ?? null) === (old ?? null);
    }
    if (Array.isArray(value) && Array.isArray(old)) return this.#compareLists(value, old);
    if (isObject(value) && isObject(old)) {
      const names = Object.keys(value);
      if (names.length !== Object.keys(old).length) return false;
      return names.every((name) => this.key(name)?.isUnchanged === true);
    }
    return jsonEqual(value, old);
  }

  #compareLists(value: readonly unknown[], old: readonly unknown[]): boolean {
    if (value.length !== old.length) return false;
    if (this.#schema['x-kubernetes-list-type'] !== 'map') return jsonEqual(value, old);
    return value.every((_, index) => this.index(index)?.isUnchanged === true);
  }
}

/** The items of a list by their keys. Only lists that are maps have such. */
export function mapListOf(schema: JsonSchema, items: readonly unknown[]): { get(item: unknown): unknown } {
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  if (schema.type !== 'array' || schema['x-kubernetes-list-type'] !== 'map' || keys.length === 0) {
    return { get: () => undefined };
  }
  const byKey = new Map<string, unknown>();
  for (const item of items) {
    const key = keyOf(item, keys);
    if (key !== undefined && !byKey.has(key)) byKey.set(key, item);
  }
  return {
    get(item) {
      const key = keyOf(item, keys);
      return key === undefined ? undefined : byKey.get(key);
    },
  };
}

function keyOf(item: unknown, keys: readonly string[]): string | undefined {
  if (!isObject(item)) return undefined;
  const parts: string[] = [];
  for (const key of keys) {
    const value = Object.hasOwn(item, key) ? item[key] : undefined;
    if (!['boolean', 'number', 'string'].includes(typeof value)) return undefined;
    parts.push(JSON.stringify(value));
  }
  return parts.join('\u0000');
}

function jsonEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => jsonEqual(item, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => Object.hasOwn(b, name) && jsonEqual(a[name], b[name]));
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
