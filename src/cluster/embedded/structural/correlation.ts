import { isArray, isEqual, isObject, type Json, own } from '../patch/json-value.ts';
import type { JsonSchema } from './json-schema.ts';
import { schemaOfField } from './prune.ts';

/**
 * A value beside the one that it replaces. Fields of the same name belong together, and elements of lists of type map whose keys are
 * equal. Where nothing belongs to a value there is no pair, and nothing of it counts as unchanged.
 */
export class Correlation {
  readonly #value: Json;
  readonly #old: Json;
  readonly #schema: JsonSchema;
  readonly #children = new Map<string | number, Correlation>();
  #oldElements: ReadonlyMap<string, Json> | undefined;
  #isUnchanged: boolean | undefined;

  constructor(value: Json, old: Json, schema: JsonSchema) {
    this.#value = value;
    this.#old = old;
    this.#schema = schema;
  }

  get value(): Json {
    return this.#value;
  }

  /** A part that nothing is known of counts as changed, and with it the whole. */
  get isUnchanged(): boolean {
    this.#isUnchanged ??= this.#compare();
    return this.#isUnchanged;
  }

  field(name: string): Correlation | undefined {
    if (!isObject(this.#value) || !isObject(this.#old)) return undefined;
    const [value, old] = [own(this.#value, name), own(this.#old, name)];
    if (value === undefined || old === undefined) return undefined;
    return this.#child(name, value, old, schemaOfField(this.#schema, name));
  }

  element(index: number): Correlation | undefined {
    if (!isArray(this.#value) || !isArray(this.#old)) return undefined;
    const value = this.#value[index];
    if (this.#schema['x-kubernetes-list-type'] !== 'map' || !isObject(value)) return undefined;
    const key = keyOf(value, this.#mapKeys);
    const old = key === undefined ? undefined : this.#elements(this.#old).get(key);
    return old === undefined ? undefined : this.#child(index, value, old, this.#schema.items);
  }

  get #mapKeys(): readonly string[] {
    return this.#schema['x-kubernetes-list-map-keys'] ?? [];
  }

  #child(at: string | number, value: Json, old: Json, schema?: JsonSchema): Correlation | undefined {
    if (schema === undefined) return undefined;
    let child = this.#children.get(at);
    if (child === undefined) {
      child = new Correlation(value, old, schema);
      this.#children.set(at, child);
    }
    return child;
  }

  /** By key; of several with one key the first. */
  #elements(old: readonly Json[]): ReadonlyMap<string, Json> {
    if (this.#oldElements !== undefined) return this.#oldElements;
    const elements = new Map<string, Json>();
    for (const each of old) {
      const key = isObject(each) ? keyOf(each, this.#mapKeys) : undefined;
      if (key !== undefined && !elements.has(key)) elements.set(key, each);
    }
    this.#oldElements = elements;
    return elements;
  }

  #compare(): boolean {
    const [value, old] = [this.#value, this.#old];
    if (isArray(value))
      return isArray(old) && value.length === old.length && this.#compareElements(value, old);
    if (!isObject(value)) return value === old;
    if (!isObject(old)) return false;
    const names = Object.keys(value);
    if (names.length !== Object.keys(old).length) return false;
    return names.every((name) => this.field(name)?.isUnchanged === true);
  }

  #compareElements(value: readonly Json[], old: readonly Json[]): boolean {
    if (this.#schema['x-kubernetes-list-type'] !== 'map') return isEqual(value, old);
    return value.every((_, index) => this.element(index)?.isUnchanged === true);
  }
}

/** Undefined where a key is missing or no scalar: such an element has no partner. */
function keyOf(element: Readonly<Record<string, Json>>, keys: readonly string[]): string | undefined {
  if (keys.length === 0) return undefined;
  const values: Json[] = [];
  for (const key of keys) {
    const value = own(element, key);
    if (value === undefined || value === null || typeof value === 'object') return undefined;
    values.push(value);
  }
  return JSON.stringify(values);
}
