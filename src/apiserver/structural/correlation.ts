import { isEqualJson } from '../../kube/deep-equal.ts';
import { isJsonArray, isJsonObject, type Json, ownValue } from '../../kube/go/json-value.ts';
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
  #partnerOf: PartnerOf | undefined;
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
    if (!isJsonObject(this.#value) || !isJsonObject(this.#old)) return undefined;
    const [value, old] = [ownValue(this.#value, name), ownValue(this.#old, name)];
    if (value === undefined || old === undefined) return undefined;
    return this.#child(name, value, old, schemaOfField(this.#schema, name));
  }

  element(index: number): Correlation | undefined {
    if (!isJsonArray(this.#value) || !isJsonArray(this.#old)) return undefined;
    const value = this.#value[index];
    this.#partnerOf ??= partnersAmong(this.#old, this.#schema);
    const old = value === undefined ? undefined : this.#partnerOf(value);
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

/** The element of another list that has the same keys. */
export type PartnerOf = (element: Json) => Json | undefined;

/** Of several with one key the first. Elements of lists that aren't of type map have no partners. */
export function partnersAmong(elements: readonly Json[], schema: JsonSchema): PartnerOf {
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

/** Undefined where a key is missing or no scalar: such an element has no partner. */
function keyOf(element: Json, keys: readonly string[]): string | undefined {
  if (!isJsonObject(element) || keys.length === 0) return undefined;
  const values: Json[] = [];
  for (const key of keys) {
    const value = ownValue(element, key);
    if (value === undefined || value === null || typeof value === 'object') return undefined;
    values.push(value);
  }
  return JSON.stringify(values);
}
