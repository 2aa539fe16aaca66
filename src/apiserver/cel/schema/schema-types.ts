import type { JsonSchema } from '../../schema/json-schema.ts';
import { type CelType, listType, mapType, structType, types } from '../types/types.ts';
import { escapeProperty } from './escaping.ts';

/** The CEL type of a schema, and bounds for the size of its values, by which the cost of rules is estimated. */
export interface CelSchemaType {
  readonly kind: 'scalar' | 'list' | 'map' | 'object';
  readonly type: CelType;
  readonly element?: CelSchemaType;
  readonly fields?: ReadonlyMap<string, CelSchemaType>;
  readonly maxElements: number;
  /** The minimum number of bytes of a value in JSON. */
  readonly minBytes: number;
}

/** The largest request that a server accepts; it limits everything that has no limit of its own. */
export const requestBytesMax = 3 * 1024 * 1024;

/** Undefined if rules cannot access such values. Objects are named by their path from `name`. */
export function schemaType(
  schema: JsonSchema,
  isResourceRoot: boolean,
  name: string,
): CelSchemaType | undefined {
  if (schema['x-kubernetes-int-or-string'] === true) return intOrString(schema);
  const seen = isResourceRoot ? withObjectMeta(schema) : schema;
  switch (seen.type) {
    case 'array':
      return listSchemaType(seen, name);
    case 'object':
      return typeof seen.additionalProperties === 'object'
        ? mapSchemaType(seen, name)
        : objectSchemaType(seen, name);
    case 'string':
      return stringSchemaType(seen);
    case 'boolean':
      return scalar(types.bool, 4);
    case 'number':
      return scalar(types.double, 1);
    case 'integer':
      return scalar(types.int, 1);
    default:
      return undefined;
  }
}

/** All object types within a type, by their names. */
export function objectTypes(root: CelSchemaType): ReadonlyMap<string, CelSchemaType> {
  const found = new Map<string, CelSchemaType>();
  const visit = (type: CelSchemaType): void => {
    if (type.kind === 'object') found.set(type.type.name, type);
    if (type.element !== undefined) visit(type.element);
    for (const field of type.fields?.values() ?? []) visit(field);
  };
  visit(root);
  return found;
}

/** The root of a resource always has a kind, an apiVersion and a name, whether or not its schema says so. */
export function withObjectMeta(schema: JsonSchema): JsonSchema {
  const { kind, apiVersion, metadata } = schema.properties ?? {};
  const named = metadata?.properties;
  const isComplete =
    kind?.type === 'string' &&
    apiVersion?.type === 'string' &&
    metadata?.type === 'object' &&
    named?.name?.type === 'string' &&
    named?.generateName?.type === 'string';
  if (isComplete) return schema;
  const text: JsonSchema = { type: 'string' };
  const meta: JsonSchema = { type: 'object', properties: { name: text, generateName: text } };
  return { ...schema, properties: { ...schema.properties, kind: text, apiVersion: text, metadata: meta } };
}

export function isEmbedded(schema: JsonSchema): boolean {
  return schema['x-kubernetes-embedded-resource'] === true;
}

function scalar(type: CelType, minBytes: number, maxElements = 0): CelSchemaType {
  return { kind: 'scalar', type, maxElements, minBytes };
}

function intOrString(schema: JsonSchema): CelSchemaType {
  const { maxLength } = schema;
  return scalar(
    types.dyn,
    1,
    maxLength === undefined ? requestBytesMax - 2 : Math.max(0, Number(maxLength)) * 4,
  );
}

function listSchemaType(schema: JsonSchema, name: string): CelSchemaType | undefined {
  if (schema.items === undefined) return undefined;
  const element = schemaType(schema.items, isEmbedded(schema.items), `${name}.@idx`);
  if (element === undefined) return undefined;
  const fitting = Math.floor((requestBytesMax - 2) / (element.minBytes + 1));
  const maxElements = schema.maxItems === undefined ? fitting : Math.max(0, Number(schema.maxItems));
  return { kind: 'list', type: listType(element.type), element, maxElements, minBytes: 2 };
}

function mapSchemaType(schema: JsonSchema, name: string): CelSchemaType | undefined {
  const values = schema.additionalProperties as JsonSchema;
  const element = schemaType(values, isEmbedded(values), `${name}.@elem`);
  if (element === undefined) return undefined;
  const fitting = Math.floor((requestBytesMax - 2) / (element.minBytes + 6));
  const maxElements =
    schema.maxProperties === undefined ? fitting : Math.max(0, Number(schema.maxProperties));
  return { kind: 'map', type: mapType(types.string, element.type), element, maxElements, minBytes: 2 };
}

function objectSchemaType(schema: JsonSchema, name: string): CelSchemaType {
  const required = new Set(schema.required ?? []);
  const fields = new Map<string, CelSchemaType>();
  let minBytes = 2;
  for (const [property, propertySchema] of Object.entries(schema.properties ?? {})) {
    const escaped = escapeProperty(property);
    const type = schemaType(propertySchema, isEmbedded(propertySchema), `${name}.${escaped ?? property}`);
    if (type === undefined) continue;
    if (escaped !== undefined) fields.set(escaped, type);
    if (required.has(property) && propertySchema.default === undefined) {
      minBytes += Buffer.byteLength(property) + type.minBytes + 4;
    }
  }
  return { kind: 'object', type: structType(name), fields, maxElements: 0, minBytes };
}

function stringSchemaType({ format, maxLength, enum: allowed }: JsonSchema): CelSchemaType {
  switch (format) {
    case 'byte':
      return scalar(
        types.bytes,
        2,
        maxLength === undefined ? requestBytesMax - 2 : Math.max(0, Number(maxLength)),
      );
    case 'duration':
      return scalar(types.duration, 3, 32);
    case 'date':
      return scalar(types.timestamp, 12, 12);
    case 'date-time':
      return scalar(types.timestamp, 21, 32);
    default:
      if (maxLength !== undefined) return scalar(types.string, 2, Math.max(0, Number(maxLength)) * 4);
      return scalar(types.string, 2, allowed?.length ? longestOf(allowed) : requestBytesMax - 2);
  }
}

function longestOf(values: readonly unknown[]): number {
  let longest = 0;
  for (const value of values) {
    if (typeof value === 'string') longest = Math.max(longest, Buffer.byteLength(value));
  }
  return longest;
}
