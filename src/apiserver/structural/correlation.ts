import { isEqualJson } from '../../kube/deep-equal.ts';
import { jsonText } from '../../kube/go/json-text.ts';
import { isJsonArray, isJsonObject, type Json, ownValue } from '../../kube/go/json-value.ts';
import type { JsonSchema } from '../schema/json-schema.ts';
import { schemaOfField } from './prune.ts';

/**
 * A value together with the value that it replaces. Fields of the same name correspond, and so do elements of lists of
 * type map with equal keys. A value without a counterpart has no correlation, and no part of it counts as unchanged.
 */
export class Correlation {
  readonly #value: Json;
  readonly #old: Json;
  readonly #schema: JsonSchema;
  readonly #children = new Map<string | number, Correlation>();
  #counterpartOf: CounterpartOf | undefined;
  #isUnchanged: boolean | undefined;

  constructor(value: Json, old: Json, schema: JsonSchema) {
    this.#value = value;
    this.#old = old;
    this.#schema = schema;
  }

  get value(): Json {
    return this.#value;
  }

  /** A part that no schema describes counts as changed, and so does the whole value. */
  get isUnchanged(): boolean {
    this.#isUnchanged ??= this.#compare();
    return this.#isUnchanged;
  }

  field(name: string): Correlation | undefined {
    if (!isJsonObject(this.#value) || !isJsonObject(this.#old)) return undefined;
    const [value, old] = [ownValue(this.#value, name), ownValue(this.#old, name)];
    if (value === undefined || old === undefined) return undefined;
    return this.#child(name, value, old, schemaOfField(this.#schema, name));
  }

  element(index: number): Correlation | undefined {
    if (!isJsonArray(this.#value) || !isJsonArray(this.#old)) return undefined;
    const value = this.#value[index];
    this.#counterpartOf ??= counterpartsAmong(this.#old, this.#schema);
    const old = value === undefined ? undefined : this.#counterpartOf(value);
    return value === undefined || old === undefined
      ? undefined
      : this.#child(index, value, old, this.#schema.items);
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

  #compare(): boolean {
    const [value, old] = [this.#value, this.#old];
    if (isJsonArray(value))
      return isJsonArray(old) && value.length === old.length && this.#compareElements(value, old);
    if (!isJsonObject(value)) return value === old;
    if (!isJsonObject(old)) return false;
    const names = Object.keys(value);
    if (names.length !== Object.keys(old).length) return false;
    return names.every((name) => this.field(name)?.isUnchanged === true);
  }

  #compareElements(value: readonly Json[], old: readonly Json[]): boolean {
    if (this.#schema['x-kubernetes-list-type'] !== 'map') return isEqualJson(value, old);
    return value.every((_, index) => this.element(index)?.isUnchanged === true);
  }
}

/** Finds the element of another list that has the same keys. */
export type CounterpartOf = (element: Json) => Json | undefined;

/**
 * If several elements have the same keys, the first one is found. Elements of lists that are not of type map have no
 * counterparts.
 */
export function counterpartsAmong(elements: readonly Json[], schema: JsonSchema): CounterpartOf {
  if (schema['x-kubernetes-list-type'] !== 'map') return () => undefined;
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const byKey = new Map<string, Json>();
  for (const element of elements) {
    const key = keyOf(element, keys);
    if (key !== undefined && !byKey.has(key)) byKey.set(key, element);
  }
  return (element) => {
    const key = keyOf(element, keys);
    return key === undefined ? undefined : byKey.get(key);
  };
}

/** Undefined if a key is missing or not a scalar: such an element has no counterpart. */
function keyOf(element: Json, keys: readonly string[]): string | undefined {
  if (!isJsonObject(element) || keys.length === 0) return undefined;
  const values: Json[] = [];
  for (const key of keys) {
    const value = ownValue(element, key);
    if (value === undefined || value === null || typeof value === 'object') return undefined;
    values.push(value);
  }
  return jsonText(values);
}
