import type { Json } from '../../kube/go/json-value.ts';
import { isJsonObject } from '../../kube/go/json-value.ts';
import { compareUtf8 } from '../../kube/sorted-keys.ts';
import type { JsonSchema } from '../schema/json-schema.ts';
import { deducedShape } from './deduced-shape.ts';
import type { FieldShape, ListKey, ListShape, MapShape, MergeShape, StructShape } from './merge-shape.ts';
import { shapeOfType } from './type-shapes.ts';

/**
 * The shape of a custom kind, derived from the schema in its definition. It describes the whole object; apiVersion,
 * kind and metadata have the same shape in every kind, whatever the schema says.
 *
 * Where a schema leaves the type of a value open, the value decides: maps are granular then, and lists atomic. The same
 * applies, at any depth, to everything that the schema does not name below `x-kubernetes-preserve-unknown-fields`.
 */
export function schemaShape(schema: JsonSchema, kind: string): StructShape {
  const keepsUnknown = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const fields = [...fieldsOf(schema.properties, keepsUnknown), ...objectFields];
  return structShape(kind, fields, restOf(schema, keepsUnknown, fields), isAtomicMap(schema));
}

const text: MergeShape = { kind: 'scalar', form: 'string' };
const number: MergeShape = { kind: 'scalar', form: 'numeric' };
const boolean: MergeShape = { kind: 'scalar', form: 'boolean' };
const untyped: MergeShape = { kind: 'scalar', form: 'untyped' };
const any: MergeShape = { kind: 'any' };

/** Custom objects have no Go structs, so an absent field has no zero value. */
const objectMeta: StructShape = structShape(
  'ObjectMeta',
  shapeOfType('meta/v1.ObjectMeta').sortedFields.map((field) => ({ ...field, zero: undefined })),
  undefined,
  false,
);

/** The fields that every object and every embedded resource has. */
const objectFields: readonly FieldShape[] = [
  fieldShape('apiVersion', text),
  fieldShape('kind', text),
  fieldShape('metadata', objectMeta),
];

function shapeOfSchema(schema: JsonSchema, isKept: boolean): MergeShape {
  const keepsUnknown = isKept || schema['x-kubernetes-preserve-unknown-fields'] === true;
  switch (schema.type) {
    case 'object':
      return mapShape(schema, keepsUnknown);
    case 'array':
      return listShape(schema, keepsUnknown);
    case 'integer':
    case 'number':
      return number;
    case 'boolean':
      return boolean;
    case 'string':
      return (schema.format ?? '') === '' || schema.format === 'byte' ? text : untyped;
    default:
      return { kind: 'deduced', map: mapShape(schema, keepsUnknown), list: listShape(schema, keepsUnknown) };
  }
}

function mapShape(schema: JsonSchema, keepsUnknown: boolean): MapShape | StructShape {
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  const fields = [...fieldsOf(schema.properties, keepsUnknown), ...(isEmbedded ? objectFields : [])];
  const rest = restOf(schema, keepsUnknown, fields);
  const isAtomic = isAtomicMap(schema);
  if (fields.length === 0 && rest !== undefined) return { kind: 'map', isAtomic, value: rest };
  return structShape('', fields, rest, isAtomic);
}

/** The shape of fields that the schema does not name. An object whose schema names no fields may have any. */
function restOf(
  { additionalProperties }: JsonSchema,
  keepsUnknown: boolean,
  fields: readonly FieldShape[],
): MergeShape | undefined {
  if (isJsonObject(additionalProperties)) return shapeOfSchema(additionalProperties, keepsUnknown);
  const isFree = additionalProperties ?? (keepsUnknown || fields.length === 0);
  return isFree ? deducedShape : undefined;
}

function isAtomicMap(schema: JsonSchema): boolean {
  return schema['x-kubernetes-map-type'] === 'atomic';
}

function fieldsOf(properties: JsonSchema['properties'], keepsUnknown: boolean): readonly FieldShape[] {
  return Object.entries(properties ?? {}).map(([name, schema]) =>
    fieldShape(name, shapeOfSchema(schema, keepsUnknown)),
  );
}

function fieldShape(name: string, shape: MergeShape): FieldShape {
  return { name, element: `f:${name}`, shape, strategy: undefined, mergeKey: '', zero: undefined };
}

/** If two fields have the same name, the last one applies. */
function structShape(
  name: string,
  fields: readonly FieldShape[],
  rest: MergeShape | undefined,
  isAtomic: boolean,
): StructShape {
  const byName = new Map(fields.map((field) => [field.name, field]));
  const sortedFields = [...byName.values()].sort((a, b) => compareUtf8(a.name, b.name));
  return { kind: 'struct', name, isAtomic, fields: byName, sortedFields, rest, isCustom: true };
}

function listShape(schema: JsonSchema, keepsUnknown: boolean): ListShape {
  const { items } = schema;
  const relation = schema['x-kubernetes-list-type'] ?? 'atomic';
  const names = relation === 'map' ? (schema['x-kubernetes-list-map-keys'] ?? []) : [];
  return {
    kind: 'list',
    relation,
    keys: names.toSorted(compareUtf8).map((name) => listKey(name, defaultOf(items, name))),
    keyOrder: names,
    element: items === undefined ? any : shapeOfSchema(items, keepsUnknown),
  };
}

function defaultOf(items: JsonSchema | undefined, name: string): Json | undefined {
  const { properties = {} } = items ?? {};
  return Object.hasOwn(properties, name) ? properties[name]?.default : undefined;
}

function listKey(name: string, whenAbsent: Json | undefined): ListKey {
  return { name, whenAbsent: whenAbsent === null ? undefined : (whenAbsent as ListKey['whenAbsent']) };
}
