import { isSemanticallyEqual } from '../../../kube/deep-equal.ts';
import type { JsonSchema } from '../../schema/json-schema.ts';
import { equals } from '../values/equality.ts';
import { CelError, type MapValue, noSuchOverload, type Value } from '../values/values.ts';
import { escapeProperty, unescapeProperty } from './escaping.ts';

type JsonMap = Readonly<Record<string, unknown>>;
type ToValue = (json: unknown, schema: JsonSchema) => Value;

/** An object in a resource: its known fields, or all entries if it is a map. Null fields count as absent. */
export class SchemaMap implements MapValue {
  readonly kind = 'map';
  readonly isFromObject = true;
  readonly size: number;
  readonly json: JsonMap;
  readonly #schema: JsonSchema;
  readonly #toValue: ToValue;

  constructor(json: JsonMap, schema: JsonSchema, toValue: ToValue) {
    this.json = json;
    this.#schema = schema;
    this.#toValue = toValue;
    this.size = Object.keys(json).length;
  }

  find(key: Value): Value | undefined {
    if (typeof key !== 'string') return key instanceof CelError ? key : new CelError(noSuchOverload);
    const name = this.#hasFields ? unescapeProperty(key) : key;
    if (name === undefined || !Object.hasOwn(this.json, name)) return undefined;
    const json = this.json[name];
    if (this.#hasFields && (json === null || json === undefined)) return undefined;
    const schema = this.#schemaOf(name);
    return schema === undefined ? undefined : this.#toValue(json, schema);
  }

  keys(): readonly Value[] {
    const known = Object.keys(this.json).filter((name) => this.#schemaOf(name) !== undefined);
    return this.#hasFields ? known.map((name) => escapeProperty(name) ?? name) : known;
  }

  /** Fields that the schema does not describe must be equal in both. */
  equals(other: MapValue): Value {
    if (this.size !== other.size) return false;
    for (const [name, json] of Object.entries(this.json)) {
      const equal =
        this.#schemaOf(name) === undefined ? equalUnknown(name, json, other) : this.#equalField(name, other);
      if (equal !== true) return equal;
    }
    return true;
  }

  get #hasFields(): boolean {
    return this.#schema.properties !== undefined;
  }

  #schemaOf(name: string): JsonSchema | undefined {
    const { properties, additionalProperties } = this.#schema;
    if (properties !== undefined) return Object.hasOwn(properties, name) ? properties[name] : undefined;
    return typeof additionalProperties === 'object' ? additionalProperties : undefined;
  }

  #equalField(name: string, other: MapValue): Value {
    const own = this.find(name);
    const theirs = other.find(name);
    if ((own === undefined) !== (theirs === undefined)) return false;
    return own === undefined || theirs === undefined ? true : equals(own, theirs);
  }
}

function equalUnknown(name: string, json: unknown, other: MapValue): Value {
  if (!(other instanceof SchemaMap)) return new CelError(noSuchOverload);
  return Object.hasOwn(other.json, name) ? isSemanticallyEqual(json, other.json[name]) : true;
}
