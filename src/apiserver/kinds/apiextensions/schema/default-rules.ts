import type { JSONSchemaProps } from '../../../../kube/api/stored/apiextensions.ts';
import { ApiError } from '../../../../kube/api-error.ts';
import { jsonText } from '../../../../kube/go/json-text.ts';
import type { Json, JsonDraft, JsonObject } from '../../../../kube/go/json-value.ts';
import { compileRules } from '../../../cel/compile-rules.ts';
import type { JsonSchema } from '../../../schema/json-schema.ts';
import { checkEmbedded, coerceEmbedded } from '../../../structural/embedded-meta.ts';
import { pruneUnknownFields } from '../../../structural/prune.ts';
import { compileSchema } from '../../../structural/validate.ts';
import { FieldErrors } from '../../../validation/field-errors.ts';
import { allSchemas, itemSchemaOf } from './schema-walk.ts';
import { asJsonSchema } from './structural-form.ts';

/**
 * Default values must match their schemas and contain no unknown fields. The schema must be structural. Kubernetes does
 * not look below `additionalProperties`: unnamed properties have no defaults.
 */
export function checkDefaults(schema: JSONSchemaProps, path: string, errors: FieldErrors): void {
  const resource = { ...schema, 'x-kubernetes-embedded-resource': true };
  checkLevel(resource, { path, errors, isMeta: false, resource, wrap: asResource });
}

interface Place {
  readonly path: string;
  readonly errors: FieldErrors;
  /** Inside of apiVersion, kind or metadata of the resource. */
  readonly isMeta: boolean;
  /** The schema of the innermost resource (the object itself or an embedded one) that contains the value. */
  readonly resource: JSONSchemaProps;
  /** Wraps the value in a resource that contains nothing else, at the value's place. */
  readonly wrap: (value: Json) => Json;
}

function checkLevel(schema: JSONSchemaProps, outer: Place): void {
  const isResource = schema['x-kubernetes-embedded-resource'] === true;
  const place = isResource ? { ...outer, isMeta: false, resource: schema, wrap: asResource } : outer;
  if (schema.default !== undefined) checkDefault(schema, place);
  const items = itemSchemaOf(schema);
  if (items !== undefined) {
    const wrap = (value: Json): Json => place.wrap([value]);
    checkLevel(items, { ...place, path: `${place.path}.items`, wrap });
  }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const isMeta = place.isMeta || (isResource && metaFields.has(name));
    const wrap = (value: Json): Json => place.wrap({ [name]: value });
    checkLevel(property, { ...place, isMeta, path: `${place.path}.properties[${name}]`, wrap });
  }
}

const metaFields: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/** A resource needs apiVersion and kind; their values do not matter here. */
function asResource(value: Json): Json {
  return { kind: 'Validation', apiVersion: 'validation/v1', ...(value as JsonObject) };
}

/** Each rule runs only if the earlier ones found no errors. */
function checkDefault(schema: JSONSchemaProps, place: Place): void {
  const { path, errors, isMeta } = place;
  const field = `${path}.default`;
  const value = schema.default as Json;
  if (!isMeta && hasUnknown(value, schema)) errors.invalid(field, value, 'must not have unknown fields');
  const before = errors.count;
  if (isMeta) {
    const problem = metaProblem(place.wrap(structuredClone(value)), place.resource);
    if (problem !== undefined) errors.invalid(field, value, `must result in valid metadata: ${problem}`);
  } else {
    const found = new FieldErrors();
    checkEmbedded({ default: value }, holderOf(schema), found);
    errors.appendBelow(path, found);
  }
  if (errors.count === before) compileSchema(withAnyType(schema)).validate(value, errors, { path: field });
  if (errors.count === before) checkRules(value, schema, path, errors);
}

/** A default must be valid in a new object, and in an update of an object that already has it. */
function checkRules(value: Json, schema: JSONSchemaProps, path: string, errors: FieldErrors): void {
  const program = compileRules(holderOf(schema), { isResourceRoot: false });
  if (program === undefined) return;
  const found = new FieldErrors();
  const object = { default: value };
  program.validate({ value: object, old: object, errors: found });
  if (found.isEmpty) program.validate({ value: object, errors: found });
  errors.appendBelow(path, found);
}

/** The schema of an object with the value in a property `default`, so that error paths contain `default`. */
function holderOf(schema: JSONSchemaProps): JsonSchema {
  return { type: 'object', properties: { default: asJsonSchema(schema) } };
}

function hasUnknown(value: Json, schema: JSONSchemaProps): boolean {
  const pruned = structuredClone(value) as JsonDraft;
  pruneUnknownFields(pruned, asJsonSchema(schema), {
    isResourceRoot: schema['x-kubernetes-embedded-resource'] === true,
  });
  return jsonText(pruned) !== jsonText(value);
}

/** Kubernetes accepts any type for the default of an int-or-string. */
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
