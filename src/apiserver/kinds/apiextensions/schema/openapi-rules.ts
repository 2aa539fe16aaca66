import type { JSONSchemaProps } from '../../../../kube/api/stored/apiextensions.ts';
import type { FieldErrors } from '../../../validation/field-errors.ts';
import { checkListRules } from './list-rules.ts';

/** Which parts of OpenAPI a schema may use, and how Kubernetes' extensions may be combined. */
export function checkOpenApi(schema: JSONSchemaProps, path: string, errors: FieldErrors): void {
  checkPart(schema, { path, errors, isRoot: true, isMeta: false });
}

interface Place {
  readonly path: string;
  readonly errors: FieldErrors;
  readonly isRoot: boolean;
  /** Inside of apiVersion, kind or metadata of an object. */
  readonly isMeta: boolean;
  /** If defaults are forbidden here: the place, as the message names it. */
  readonly noDefaults?: string;
}

function checkPart(schema: JSONSchemaProps, place: Place): void {
  const { path, errors } = place;
  checkSupported(schema, place);
  if (schema.uniqueItems === true) {
    const detail = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    errors.forbidden(`${path}.uniqueItems`, detail);
  }
  checkAdditional(schema, place);
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    checkPart(property, propertyPlace(schema, name, place));
  }
  checkNested(schema, { ...place, isRoot: false });
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    errors.invalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined');
  }
  checkListRules(schema, path, errors);
}

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const metaFields: ReadonlySet<string> = new Set(['metadata', 'kind', 'apiVersion']);

const unsupportedFields = [
  ...['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'],
] as const satisfies readonly (keyof JSONSchemaProps)[];

function checkSupported(schema: JSONSchemaProps, { path, errors, isMeta, noDefaults }: Place): void {
  const { type = '' } = schema;
  if (type !== '' && !types.includes(type)) errors.notSupported(`${path}.type`, type, types);
  if (schema.default !== undefined && noDefaults !== undefined) {
    errors.forbidden(`${path}.default`, `must not be set ${noDefaults}`);
  }
  for (const field of unsupportedFields) {
    if (schema[field] !== undefined) errors.forbidden(`${path}.${field}`, `${field} is not supported`);
  }
  if (type === 'null') {
    errors.forbidden(`${path}.type`, 'type cannot be set to null, use nullable as an alternative');
  }
  if (Array.isArray(schema.items)) {
    errors.forbidden(`${path}.items`, 'items must be a schema object and not an array');
  }
  if (isMeta && schema['x-kubernetes-embedded-resource'] === true) {
    errors.forbidden(`${path}.x-kubernetes-embedded-resource`, 'must not be used inside of resource meta');
  }
}

/** `properties` and `additionalProperties` exclude each other, unless the latter is `true`. */
function checkAdditional(schema: JSONSchemaProps, place: Place): void {
  const { additionalProperties, properties } = schema;
  if (additionalProperties === undefined) return;
  const path = `${place.path}.additionalProperties`;
  if (properties !== undefined && additionalProperties !== true) {
    place.errors.forbidden(path, 'additionalProperties and properties are mutual exclusive');
  }
  if (typeof additionalProperties !== 'object') return;
  const inMeta = place.isMeta
    ? { noDefaults: 'inside additionalProperties applying to object metadata' }
    : {};
  checkPart(additionalProperties, { ...place, ...inMeta, path, isRoot: false });
}

function propertyPlace(schema: JSONSchemaProps, name: string, place: Place): Place {
  const path = `${place.path}.properties[${name}]`;
  const isResource = place.isRoot || schema['x-kubernetes-embedded-resource'] === true;
  if (!isResource || !metaFields.has(name)) return { ...place, path, isRoot: false };
  const noDefaults = place.isRoot ? { noDefaults: `in top-level ${name}` } : {};
  return { ...place, ...noDefaults, path, isRoot: false, isMeta: true };
}

function checkNested(schema: JSONSchemaProps, place: Place): void {
  const { path } = place;
  const { not, allOf = [], oneOf = [], anyOf = [], definitions = {}, items, dependencies = {} } = schema;
  if (not !== undefined) checkPart(not, { ...place, path: `${path}.not` });
  for (const [name, schemas] of Object.entries({ allOf, oneOf, anyOf })) {
    for (const [index, each] of schemas.entries()) {
      checkPart(each, { ...place, path: `${path}.${name}[${index}]` });
    }
  }
  for (const [name, each] of Object.entries(definitions)) {
    checkPart(each, { ...place, path: `${path}.definitions[${name}]` });
  }
  if (Array.isArray(items)) {
    for (const [index, each] of items.entries())
      checkPart(each, { ...place, path: `${path}.items[${index}]` });
  } else if (items !== undefined) checkPart(items, { ...place, path: `${path}.items` });
  for (const [name, each] of Object.entries(dependencies)) {
    if (each !== null && !Array.isArray(each)) {
      checkPart(each, { ...place, path: `${path}.dependencies[${name}]` });
    }
  }
}
