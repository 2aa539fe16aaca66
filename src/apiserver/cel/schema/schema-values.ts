import { isSemanticallyEqual } from '../../../kube/deep-equal.ts';
import { goTypeName } from '../../../kube/go/format-value.ts';
import type { Json } from '../../../kube/go/json-value.ts';
import type { JsonSchema } from '../../schema/json-schema.ts';
import { parseCelTimestamp } from '../values/times.ts';
import { CelDuration, CelError, type OpaqueValue, type Value } from '../values/values.ts';
import { parseApiDateTime, parseApiDuration, parseBase64Url } from './format-values.ts';
import { SchemaList } from './schema-list.ts';
import { SchemaMap } from './schema-map.ts';
import { isEmbedded, withObjectMeta } from './schema-types.ts';

/** A JSON value as rules access it, by its schema. A value that does not fit is an error, as a value. */
export function schemaValue(json: unknown, schema: JsonSchema): Value {
  if (json === null || json === undefined) {
    return schema.nullable === true
      ? null
      : new CelError('invalid data, got null for schema with nullable=false');
  }
  if (schema['x-kubernetes-int-or-string'] === true) return intOrString(json);
  switch (schema.type) {
    case 'object':
      return objectValue(json, schema);
    case 'array':
      return arrayValue(json, schema);
    case 'string':
      return typeof json === 'string' ? textValue(json, schema) : wrongTypeError('string', json);
    case 'number':
      return typeof json === 'number' || typeof json === 'bigint'
        ? Number(json)
        : wrongTypeError('float', json);
    case 'integer':
      return isWhole(json) ? BigInt(json) : wrongTypeError('int', json);
    case 'boolean':
      return typeof json === 'boolean' ? json : wrongTypeError('bool', json);
    default:
      return untypedValue(json, schema);
  }
}

function wrongTypeError(expected: string, json: unknown): CelError {
  return new CelError(`invalid data, expected ${expected}, got ${goTypeName(json as Json)}`);
}

function intOrString(json: unknown): Value {
  if (typeof json === 'string') return json;
  if (isWhole(json)) return BigInt(json);
  return new CelError('invalid data, expected XIntOrString value to be either a string or integer');
}

function isWhole(json: unknown): json is number | bigint {
  return typeof json === 'bigint' || Number.isInteger(json);
}

function objectValue(json: unknown, schema: JsonSchema): Value {
  if (typeof json !== 'object' || Array.isArray(json)) {
    return new CelError('invalid data, expected a map for the provided schema with type=object');
  }
  const effective = isEmbedded(schema) ? withObjectMeta(schema) : schema;
  return new SchemaMap(json as Readonly<Record<string, unknown>>, effective, schemaValue);
}

function arrayValue(json: unknown, schema: JsonSchema): Value {
  if (!Array.isArray(json)) {
    return new CelError('invalid data, expected an array for the provided schema with type=array');
  }
  if (schema.items === undefined) {
    return new CelError('invalid array type, expected Items with a non-empty Schema');
  }
  return new SchemaList(json, { schema, items: schema.items }, schemaValue);
}

function textValue(text: string, { format }: JsonSchema): Value {
  switch (format) {
    case 'duration': {
      const nanos = parseApiDuration(text);
      if (nanos !== undefined) return new CelDuration(nanos);
      return new CelError(`Invalid duration ${text}: unable to parse ${text} as duration`);
    }
    case 'date':
      return parseCelTimestamp(`${text}T00:00:00Z`) ?? new CelError(`Invalid date formatted string ${text}`);
    case 'date-time':
      return parseApiDateTime(text) ?? new CelError(`Invalid date-time formatted string ${text}`);
    case 'byte':
      return (
        parseBase64Url(text) ?? new CelError(`Invalid byte formatted string ${text}: illegal base64 data`)
      );
    default:
      return text;
  }
}

/** A value that no schema describes: it can only be compared. */
class UnknownValue implements OpaqueValue {
  readonly kind = 'opaque';
  readonly typeName = 'unknown';
  readonly #json: unknown;

  constructor(json: unknown) {
    this.#json = json;
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof UnknownValue && isSemanticallyEqual(this.#json, other.#json);
  }
}

function untypedValue(json: unknown, schema: JsonSchema): Value {
  if (schema['x-kubernetes-preserve-unknown-fields'] === true) return new UnknownValue(json);
  return new CelError(
    'invalid type, expected object, array, number, integer, boolean or string, or no type with ' +
      `x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields is true, got ${schema.type ?? ''}`,
  );
}
