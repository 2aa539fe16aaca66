import type { JSONSchemaProps } from '../../../../kube/api/stored/apiextensions.ts';
import { messageOf } from '../../../../runtime/error-message.ts';
import { compiledPattern } from '../../../schema/bounded-pattern.ts';
import { FieldErrors } from '../../../validation/field-errors.ts';
import { itemSchemaOf } from './schema-walk.ts';
import { checkCompleteness } from './structural-completeness.ts';

/**
 * Checks that a schema is structural: it specifies the type of every value once, outside of `allOf`, `anyOf`, `oneOf`
 * and `not`, which may only validate. Pruning and defaulting rely on this. Errors are sorted.
 */
export function checkStructural(schema: JSONSchemaProps, path: string, errors: FieldErrors): void {
  const found = new FieldErrors();
  checkLevel(schema, 'root', path, found);
  checkCompleteness(schema, path, found);
  errors.append(found, (a, b) => (`${a.field}: ${a.message}` < `${b.field}: ${b.message}` ? -1 : 1));
}

/** What the schema describes. */
type Level = 'root' | 'item' | 'field';

function checkLevel(schema: JSONSchemaProps, level: Level, path: string, errors: FieldErrors): void {
  const items = itemSchemaOf(schema);
  if (schema.type === 'array' && items === undefined) errors.required(`${path}.items`, 'must be specified');
  if (items !== undefined) checkLevel(items, 'item', `${path}.items`, errors);
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    checkLevel(property, 'field', `${path}.properties[${name}]`, errors);
  }
  checkAdditional(schema, level, path, errors);
  checkIntOrString(schema, path, errors);
  checkValueValidations(schema, isIntOrString(schema.anyOf), isIntOrString(schema.allOf?.[0]?.anyOf), {
    path,
    errors,
  });
  checkType(schema, level, path, errors);
  checkMetadata(schema, level, path, errors);
  if (
    schema['x-kubernetes-embedded-resource'] === true &&
    schema['x-kubernetes-preserve-unknown-fields'] !== true &&
    schema.properties === undefined
  ) {
    const detail =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    errors.required(`${path}.properties`, detail);
  }
}

function checkAdditional(schema: JSONSchemaProps, level: Level, path: string, errors: FieldErrors): void {
  const { additionalProperties } = schema;
  if (additionalProperties === undefined) return;
  const field = `${path}.additionalProperties`;
  if (level === 'root') errors.forbidden(field, 'must not be used at the root');
  if (typeof additionalProperties === 'object') checkLevel(additionalProperties, 'field', field, errors);
  if (schema['x-kubernetes-embedded-resource'] === true) {
    errors.forbidden(field, 'must not be used if x-kubernetes-embedded-resource is set');
  }
}

function checkIntOrString(schema: JSONSchemaProps, path: string, errors: FieldErrors): void {
  if (schema['x-kubernetes-int-or-string'] !== true) return;
  for (const extension of [
    'x-kubernetes-preserve-unknown-fields',
    'x-kubernetes-embedded-resource',
  ] as const) {
    if (schema[extension] === true) {
      errors.invalid(`${path}.${extension}`, true, 'must be false if x-kubernetes-int-or-string is true');
    }
  }
}

const emptyTypes: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

function checkType(schema: JSONSchemaProps, level: Level, path: string, errors: FieldErrors): void {
  const { type = '' } = schema;
  const field = `${path}.type`;
  const isAnything =
    schema['x-kubernetes-int-or-string'] === true || schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (schema['x-kubernetes-embedded-resource'] === true && type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true';
    if (type === '') errors.required(field, detail);
    else errors.invalid(field, type, detail);
  } else if (type === '' && !isAnything) errors.required(field, emptyTypes[level]);
  if (level === 'root' && type !== '' && type !== 'object') {
    errors.invalid(field, type, 'must be object at the root');
  }
}

/** Metadata is the same for all objects, so a schema may restrict only its names. */
function checkMetadata(schema: JSONSchemaProps, level: Level, path: string, errors: FieldErrors): void {
  const isResource = level === 'root' || schema['x-kubernetes-embedded-resource'] === true;
  const { kind, apiVersion, metadata } = schema.properties ?? {};
  for (const [name, property] of Object.entries({ kind, apiVersion })) {
    if (!isResource || property === undefined || property.type === 'string') continue;
    errors.invalid(`${path}.properties[${name}].type`, property.type ?? '', 'must be string');
  }
  if (metadata === undefined) return;
  const field = `${path}.properties[metadata]`;
  if (isResource && metadata.type !== 'object') {
    errors.invalid(`${field}.type`, metadata.type ?? '', 'must be object');
  }
  if (level === 'root' && !restrictsNamesOnly(metadata)) {
    const detail =
      'must not specify anything other than name and generateName, but metadata is implicitly specified';
    errors.forbidden(field, detail);
  }
}

/** An empty `$ref` counts as absent. */
function restrictsNamesOnly(metadata: JSONSchemaProps): boolean {
  const { type: _, default: __, $ref: ___, properties = {}, ...rest } = metadata;
  const names = Object.keys(properties);
  return names.every((name) => name === 'name' || name === 'generateName') && Object.keys(rest).length === 0;
}

/** The only case in which `anyOf` may specify types: `[{type: integer}, {type: string}]`. */
function isIntOrString(anyOf: readonly JSONSchemaProps[] | undefined): boolean {
  return JSON.stringify(anyOf) === '[{"type":"integer"},{"type":"string"}]';
}

interface Place {
  readonly path: string;
  readonly errors: FieldErrors;
}

function checkValueValidations(
  schema: JSONSchemaProps,
  skipsAnyOf: boolean,
  skipsFirstAllOf: boolean,
  { path, errors }: Place,
): void {
  const { anyOf = [], allOf = [], oneOf = [], not, pattern = '' } = schema;
  if (!skipsAnyOf) {
    for (const [index, each] of anyOf.entries())
      checkValueValidation(each, false, `${path}.anyOf[${index}]`, errors);
  }
  for (const [index, each] of allOf.entries()) {
    checkValueValidation(each, skipsFirstAllOf && index === 0, `${path}.allOf[${index}]`, errors);
  }
  for (const [index, each] of oneOf.entries())
    checkValueValidation(each, false, `${path}.oneOf[${index}]`, errors);
  if (not !== undefined) checkValueValidation(not, false, `${path}.not`, errors);
  const problem = pattern === '' ? undefined : patternProblem(pattern);
  if (problem !== undefined) {
    const detail = `must be a valid regular expression, but isn't: ${problem}`;
    errors.invalid(`${path}.pattern`, pattern, detail);
  }
}

function patternProblem(pattern: string): string | undefined {
  try {
    compiledPattern(pattern);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** A schema inside of `allOf`, `anyOf`, `oneOf` or `not`: it may validate values, but not specify their structure. */
function checkValueValidation(
  schema: JSONSchemaProps,
  skipsAnyOf: boolean,
  path: string,
  errors: FieldErrors,
): void {
  checkValueValidations(schema, skipsAnyOf, false, { path, errors });
  const items = itemSchemaOf(schema);
  if (items !== undefined) checkValueValidation(items, false, `${path}.items`, errors);
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    checkValueValidation(property, false, `${path}.properties[${name}]`, errors);
  }
  const { additionalProperties } = schema;
  const isSet = additionalProperties !== undefined && additionalProperties !== false;
  if (isSet) errors.forbidden(`${path}.additionalProperties`, 'must be undefined to be structural');
  for (const [field, how] of structuralFields) {
    const value = schema[field];
    if (value !== undefined && value !== false) {
      errors.forbidden(`${path}.${field}`, `must be ${how} to be structural`);
    }
  }
  if (schema.properties !== undefined && Object.hasOwn(schema.properties, 'metadata')) {
    errors.forbidden(`${path}.properties[metadata]`, 'must not be specified in a nested context');
  }
}

const structuralFields: readonly (readonly [keyof JSONSchemaProps, 'empty' | 'undefined' | 'false'])[] = [
  ['type', 'empty'],
  ['default', 'undefined'],
  ['title', 'empty'],
  ['description', 'empty'],
  ['nullable', 'false'],
  ['x-kubernetes-preserve-unknown-fields', 'false'],
  ['x-kubernetes-embedded-resource', 'false'],
  ['x-kubernetes-int-or-string', 'false'],
  ['x-kubernetes-list-map-keys', 'empty'],
  ['x-kubernetes-list-type', 'undefined'],
  ['x-kubernetes-map-type', 'undefined'],
  ['x-kubernetes-validations', 'empty'],
];
