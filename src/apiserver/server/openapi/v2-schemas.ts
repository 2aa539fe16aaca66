import type { JsonSchema } from '../../schema/json-schema.ts';
import type { OpenApiSchema } from './schemas.ts';

/**
 * Converts an OpenAPI 3 schema to version 2, which has no alternatives and, as Kubernetes publishes it, no defaults. A
 * value of several possible types becomes a string: kubectl accepts any scalar for one.
 */
export function toV2Schema(schema: OpenApiSchema): OpenApiSchema {
  const whole = soleReference(schema);
  if (whole !== undefined) return { ...without(schema, 'allOf', 'default'), ...whole };
  const { properties, items, additionalProperties, oneOf } = schema;
  return {
    ...without(schema, 'default', 'oneOf'),
    ...(oneOf === undefined ? {} : { type: 'string' }),
    ...(isSchema(properties) ? { properties: mapped(properties as Schemas, toV2Schema) } : {}),
    ...(isSchema(items) ? { items: toV2Schema(items) } : {}),
    ...(isSchema(additionalProperties) ? { additionalProperties: toV2Schema(additionalProperties) } : {}),
  };
}

/**
 * Converts the schema of a custom resource, without what version 2 cannot express. kubectl reads `properties` as the
 * complete list of fields and `type` as the only type; where the server accepts more, both are left out.
 */
export function toV2CustomSchema(published: OpenApiSchema): OpenApiSchema {
  const schema = published as JsonSchema;
  const identity = published['x-kubernetes-group-version-kind'];
  return schema[keepsUnknown] === true
    ? { type: 'object', 'x-kubernetes-group-version-kind': identity }
    : customSchema(schema);
}

const keepsUnknown = 'x-kubernetes-preserve-unknown-fields';

function customSchema(schema: JsonSchema): OpenApiSchema {
  const whole = soleReference(schema as OpenApiSchema);
  if (whole !== undefined) return { ...descriptionOf(schema), ...whole };
  const { type, required, properties, items, additionalProperties } = schema;
  const isOpen = schema.nullable === true || schema[keepsUnknown] === true;
  const keptItems = isOpen ? undefined : items;
  const keptType = isTypeKept(schema, keptItems) ? type : undefined;
  const keptRequired = requiredOf(schema);
  const plain = {
    ...without(schema as OpenApiSchema, ...rewritten),
    ...(keptType === undefined ? {} : { type: keptType }),
    ...(keptRequired.length === 0 || required === undefined ? {} : { required: keptRequired }),
    ...(keptItems === undefined ? {} : { items: customSchema(keptItems) }),
    ...(isOpen || properties === undefined ? {} : { properties: mapped(properties, customSchema) }),
    ...(additionalProperties === undefined ? {} : { additionalProperties: restOf(additionalProperties) }),
  };
  return schema['x-kubernetes-embedded-resource'] === true && !isOpen ? withObjectFields(plain) : plain;
}

function descriptionOf(schema: JsonSchema): OpenApiSchema {
  const { description } = schema as OpenApiSchema;
  return description === undefined ? {} : { description };
}

/** Keywords that are dropped or rewritten. */
const rewritten = [
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'nullable',
  'default',
  'type',
  'required',
  'items',
  'properties',
  'additionalProperties',
];

function isTypeKept(schema: JsonSchema, items: JsonSchema | undefined): boolean {
  const { type = '', nullable } = schema;
  if (type === '' || nullable === true) return false;
  // kubectl rejects the whole document if an array has no `items`.
  if (type === 'array') return items !== undefined;
  return !(type === 'object' && schema[keepsUnknown] === true);
}

/** kubectl treats null as absent. */
function requiredOf({ required = [], properties = {}, additionalProperties }: JsonSchema): readonly string[] {
  if (typeof additionalProperties === 'object' && additionalProperties.nullable === true) return [];
  return required.filter((name) => properties[name]?.nullable !== true);
}

function restOf(additional: JsonSchema | boolean): OpenApiSchema | boolean {
  return typeof additional === 'boolean' ? additional : customSchema(additional);
}

/** An embedded resource has apiVersion, kind and metadata like every object. */
function withObjectFields(schema: OpenApiSchema): OpenApiSchema {
  const { properties = {}, required = [] } = schema as { properties?: Schemas; required?: readonly string[] };
  const names = ['kind', 'apiVersion'].filter((name) => !required.includes(name));
  const metadata = { $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' };
  const own = { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata };
  return { ...schema, required: [...required, ...names], properties: { ...properties, ...own } };
}

/** Version 3 wraps a reference in `allOf` if it has siblings. Schemas written by users contain no references. */
function soleReference({ $ref, allOf }: OpenApiSchema): OpenApiSchema | undefined {
  const first = Array.isArray(allOf) && allOf.length === 1 ? (allOf[0] as OpenApiSchema).$ref : $ref;
  return typeof first === 'string'
    ? { $ref: first.replace('#/components/schemas/', '#/definitions/') }
    : undefined;
}

type Schemas = Readonly<Record<string, OpenApiSchema>>;

function mapped<T>(schemas: Readonly<Record<string, T>>, convert: (schema: T) => OpenApiSchema): Schemas {
  const names = Object.keys(schemas).sort();
  return Object.fromEntries(names.map((name) => [name, convert(schemas[name] as T)]));
}

function without(schema: OpenApiSchema, ...names: readonly string[]): OpenApiSchema {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => !names.includes(name)));
}

function isSchema(value: unknown): value is OpenApiSchema {
  return typeof value === 'object' && value !== null;
}
