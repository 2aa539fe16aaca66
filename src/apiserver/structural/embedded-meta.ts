import type { ObjectMeta } from '../../kube/api/stored/meta.ts';
import { ApiError, badRequest } from '../../kube/api-error.ts';
import {
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonDraft,
  type JsonObject,
  ownValue,
} from '../../kube/go/json-value.ts';
import { withSortedKeysDeep } from '../../kube/sorted-keys.ts';
import { parseApiVersion } from '../schema/group-version-kind.ts';
import type { JsonSchema } from '../schema/json-schema.ts';
import { normalize } from '../schema/normalize.ts';
import { FieldErrors } from '../validation/field-errors.ts';
import { nameRules } from '../validation/names.ts';
import { checkObjectMeta } from '../validation/object-meta.ts';
import { schemaOfField } from './prune.ts';
import { searchFor } from './schema-search.ts';

/**
 * Converts the metadata of embedded resources to its canonical form, in place, and returns the paths of unknown fields.
 * Throws BadRequest if metadata, kind or apiVersion has a wrong type. The root is not included unless its schema marks
 * it as embedded.
 */
export function coerceEmbedded(value: JsonObject, schema: JsonSchema): readonly string[] {
  const unknown: string[] = [];
  forEachResource(value, schema, '', (resource, path) => coerceResource(resource, path, unknown));
  return unknown.sort();
}

/** Adds the errors of apiVersion, kind and metadata of embedded resources. */
export function checkEmbedded(value: unknown, schema: JsonSchema, errors: FieldErrors): void {
  forEachResource(value as Json, schema, '', (resource, path) => checkResource(resource, path, errors));
}

const containsResources = searchFor((schema) => schema['x-kubernetes-embedded-resource'] === true);

type Visit = (resource: JsonDraft, path: string) => void;

/** Visits outer resources before the ones within them. */
function forEachResource(value: Json, schema: JsonSchema | undefined, path: string, visit: Visit): void {
  if (schema === undefined || !containsResources(schema)) return;
  if (isJsonArray(value)) {
    const { items } = schema;
    value.forEach((each, index) => {
      forEachResource(each, items, `${path}[${index}]`, visit);
    });
  } else if (isJsonObject(value)) {
    if (schema['x-kubernetes-embedded-resource'] === true) visit(value as JsonDraft, path);
    for (const name of Object.keys(value)) {
      if (typeof value[name] !== 'object') continue;
      const isNamed = ownValue(schema.properties, name) !== undefined;
      const below = isNamed ? child(path, name) : `${path}[${name}]`;
      forEachResource(value[name] as Json, schemaOfField(schema, name), below, visit);
    }
  }
}

function coerceResource(resource: JsonDraft, path: string, unknown: string[]): void {
  for (const name of ['apiVersion', 'kind']) {
    const text = ownValue(resource, name);
    if (text !== undefined && typeof text !== 'string') throw refused(child(path, name), text, mustBeString);
  }
  const given = ownValue(resource, 'metadata');
  if (given === undefined) return;
  const at = child(path, 'metadata');
  const meta = readMeta(given);
  if (typeof meta === 'string') throw refused(at, given, meta);
  if (at.length <= pathMax) unknown.push(...meta.unknownFields.map((field) => `${at}.${field}`));
  resource.metadata = meta.object as JsonObject;
}

/** Unknown fields below longer paths are dropped without a report: every report repeats the path. */
const pathMax = 1024;

const mustBeString = 'must be a string';

function refused(field: string, value: Json, detail: string): ApiError {
  const errors = new FieldErrors();
  errors.invalid(field, withSortedKeysDeep(value), detail);
  return badRequest(`${field}: ${errors.causes[0]?.message}`);
}

interface ReadMeta {
  readonly object: Record<string, unknown>;
  readonly unknownFields: readonly string[];
}

/** Returns the error message if the value is not valid metadata. */
function readMeta(value: Json): ReadMeta | string {
  try {
    const { object, unknownFields } = normalize('meta/v1.ObjectMeta', value);
    if (object.creationTimestamp === null) delete object.creationTimestamp;
    return { object, unknownFields };
  } catch (error) {
    if (error instanceof ApiError) return error.message;
    throw error;
  }
}

/** apiVersion and kind are required, metadata is optional. */
function checkResource(resource: JsonDraft, path: string, errors: FieldErrors): void {
  const { apiVersion, kind, metadata } = resource;
  if (apiVersion === undefined) errors.required(child(path, 'apiVersion'));
  if (kind === undefined) errors.required(child(path, 'kind'));
  if (apiVersion !== undefined) checkApiVersion(apiVersion, child(path, 'apiVersion'), errors);
  if (kind !== undefined) checkKind(kind, child(path, 'kind'), errors);
  if (metadata !== undefined) checkMeta(metadata, path, errors);
}

function checkApiVersion(value: Json, field: string, errors: FieldErrors): void {
  if (typeof value !== 'string') errors.invalid(field, withSortedKeysDeep(value), mustBeString);
  else if (value === '') errors.invalid(field, value, 'must not be empty');
  else if (parseApiVersion(value) === undefined) {
    errors.invalid(field, value, `unexpected GroupVersion string: ${value}`);
  }
}

function checkKind(value: Json, field: string, errors: FieldErrors): void {
  if (typeof value !== 'string') errors.invalid(field, withSortedKeysDeep(value), mustBeString);
  else if (value === '') errors.invalid(field, value, 'must not be empty');
  else {
    const problems = nameRules.dns1035Label(value.toLowerCase(), false);
    if (problems.length === 0) return;
    const sentence = `may have mixed case, but should otherwise match: ${problems.join(',')}`;
    errors.invalid(field, value, sentence);
  }
}

function checkMeta(value: Json, path: string, errors: FieldErrors): void {
  const read = readMeta(value);
  if (typeof read === 'string') {
    errors.invalid(child(path, 'metadata'), withSortedKeysDeep(value), read);
    return;
  }
  const meta = read.object as ObjectMeta;
  const found = new FieldErrors();
  // Embedded resources need no name, so the check uses a substitute.
  checkObjectMeta(found, meta.name === undefined ? { ...meta, name: 'fakename' } : meta, {
    namespaced: meta.namespace !== undefined,
    nameRule: nameRules.pathSegment,
    allowsAnyFinalizer: true,
  });
  errors.appendBelow(path, found);
}

function child(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
