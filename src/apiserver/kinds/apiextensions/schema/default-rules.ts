import type { JSONSchemaProps } from '../../../../kube/api/stored/apiextensions.ts';
import { ApiError } from '../../../../kube/api-error.ts';
import type { Json, JsonDraft, JsonObject } from '../../../../kube/go/json-value.ts';
import { compileRules } from '../../../cel/compile-rules.ts';
import { checkEmbedded, coerceEmbedded } from '../../../structural/embedded-meta.ts';
import type { JsonSchema } from '../../../structural/json-schema.ts';
import { pruneUnknownFields } from '../../../structural/prune.ts';
import { compileSchema } from '../../../structural/validate.ts';
import { FieldErrors } from '../../../validation/field-errors.ts';
import { allSchemas, itemSchemaOf } from './schema-walk.ts';
import { asJsonSchema } from './structural-form.ts';

/**
 * That default values fit their schemas and hold nothing unknown. The schema is structural. Nobody looks below
 * `additionalProperties`: what has no name has no default.
 */
export function checkDefaults(schema: JSONSchemaProps, path: string, errors: FieldErrors): void {
  const resource = { ...schema, 'x-kubernetes-embedded-resource': true };
  checkLevel(resource, { path, errors, isMeta: false, resource, surround: asResource });
}

interface Place {
  readonly path: string;
  readonly errors: FieldErrors;
  /** Within apiVersion, kind or metadata of the resource. */
  readonly isMeta: boolean;
  /** The object that the value is a part of, or the nearest one that is embedded in it. */
  readonly resource: JSONSchemaProps;
  /** Makes an object of it that has nothing but the value, in its place. */
  readonly surround: (value: Json) => Json;
}

function checkLevel(schema: JSONSchemaProps, outer: Place): void {
  const isResource = schema['x-kubernetes-embedded-resource'] === true;
  const place = isResource ? { ...outer, isMeta: false, resource: schema, surround: asResource } : outer;
  if (schema.default !== undefined) checkDefault(schema, place);
  const items = itemSchemaOf(schema);
  if (items !== undefined) {
    const surround = (value: Json): Json => place.surround([value]);
    checkLevel(items, { ...place, path: `${place.path}.items`, surround });
  }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const isMeta = place.isMeta || (isResource && metaFields.has(name));
    const surround = (value: Json): Json => place.surround({ [name]: value });
    checkLevel(property, { ...place, isMeta, path: `${place.path}.properties[${name}]`, surround });
  }
}

const metaFields: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/** Every resource says what it is; what it says does not matter here. */
function asResource(value: Json): Json {
  return { kind: 'Validation', apiVersion: 'validation/v1', ...(value as JsonObject) };
}

/** Each rule is asked only where those before had nothing to say. */
function checkDefault(schema: JSONSchemaProps, place: Place): void {
  const { path, errors, isMeta } = place;
  const field = `${path}.default`;
  const value = schema.default as Json;
  if (!isMeta && hasUnknown(value, schema)) errors.invalid(field, value, 'must not have unknown fields');
  const before = errors.count;
  if (isMeta) {
    const problem = metaProblem(place.surround(structuredClone(value)), place.resource);
    if (problem !== undefined) errors.invalid(field, value, `must result in valid metadata: ${problem}`);
  } else {
    const found = new FieldErrors();
    checkEmbedded({ default: value }, holderOf(schema), found);
    errors.appendBelow(path, found);
  }
  if (errors.count === before) compileSchema(withAnyType(schema)).validate(value, errors, { path: field });
  if (errors.count === before) checkRules(value, schema, path, errors);
}

/** A default must be right for new objects, and for those that have it already. */
function checkRules(value: Json, schema: JSONSchemaProps, path: string, errors: FieldErrors): void {
  const program = compileRules(holderOf(schema), { isResourceRoot: false });
  if (program === undefined) return;
  const found = new FieldErrors();
  const object = { default: value };
  program.validate({ value: object, old: object, errors: found });
  if (found.isEmpty) program.validate({ value: object, errors: found });
  errors.appendBelow(path, found);
}

/** The schema of an object that has the value under the name `default`, so that what is said about it says where it is. */
function holderOf(schema: JSONSchemaProps): JsonSchema {
  return { type: 'object', properties: { default: asJsonSchema(schema) } };
}

function hasUnknown(value: Json, schema: JSONSchemaProps): boolean {
  const pruned = structuredClone(value) as JsonDraft;
  pruneUnknownFields(pruned, asJsonSchema(schema), {
    isResourceRoot: schema['x-kubernetes-embedded-resource'] === true,
  });
  return JSON.stringify(pruned) !== JSON.stringify(value);
}

/** Kubernetes takes anything for the default of an integer or text. */
function withAnyType(schema: JSONSchemaProps): JsonSchema {
  const copy = structuredClone(schema);
  for (const part of allSchemas(copy)) delete part['x-kubernetes-int-or-string'];
  return asJsonSchema(copy);
}

function metaProblem(object: Json, resource: JSONSchemaProps): string | undefined {
  try {
    coerceEmbedded(object as JsonObject, asJsonSchema(resource));
  } catch (error) {
    if (error instanceof ApiError) return error.message;
    throw error;
  }
  const found = new FieldErrors();
  checkEmbedded(object, asJsonSchema(resource), found);
  const problems = found.causes.map(({ field, message }) => `${field}: ${message}`);
  return problems.length > 1 ? `[${problems.join(', ')}]` : problems[0];
}
