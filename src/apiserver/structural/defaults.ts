import {
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonDraft,
  type JsonObject,
  ownValue,
  setKey,
} from '../../kube/go/json-value.ts';
import type { JsonSchema } from '../schema/json-schema.ts';
import { schemaOfField } from './prune.ts';
import { searchFor } from './schema-search.ts';

/**
 * Fills in the defaults of the schema, in place: for absent fields, and for nulls that are not allowed. Nulls that are
 * not allowed and have no default are removed first, as if they had been absent.
 */
export function applyDefaults(value: JsonObject, schema: JsonSchema): void {
  dropRefusedNulls(value, schema);
  fillDefaults(value, schema);
}

/** Keeps other nulls: a merged object keeps them until validation refuses them. */
export function fillDefaults(value: JsonObject, schema: JsonSchema): void {
  fill(value, schema);
}

/** Removes nulls that are not allowed and have no default, as Kubernetes does when it reads an object. */
export function dropRefusedNulls(value: JsonObject, schema: JsonSchema): void {
  dropNulls(value, schema);
}

/** Recurses into described fields only, because no schema forbids null elsewhere. Null elements of lists stay. */
function dropNulls(value: Json, schema: JsonSchema | undefined): void {
  if (schema === undefined) return;
  if (isJsonArray(value)) {
    for (const each of value) dropNulls(each, schema.items);
  } else if (isJsonObject(value)) {
    for (const name of Object.keys(value)) {
      const field = schemaOfField(schema, name);
      if (isRefusedNull(value[name], field) && !hasDefault(field)) delete (value as JsonDraft)[name];
      else dropNulls(value[name] as Json, field);
    }
  }
}

const containsDefaults = searchFor(hasDefault);

function fill(value: Json, schema: JsonSchema | undefined): void {
  if (schema === undefined || !containsDefaults(schema)) return;
  if (isJsonArray(value)) fillList(value as Json[], schema.items);
  else if (isJsonObject(value)) fillObject(value as JsonDraft, schema);
}

function fillObject(value: JsonDraft, schema: JsonSchema): void {
  const { properties = {} } = schema;
  for (const name of Object.keys(properties)) {
    const field = properties[name] as JsonSchema;
    if (!hasDefault(field)) continue;
    if (!Object.hasOwn(value, name) || isRefusedNull(value[name], field))
      setKey(value, name, copy(field.default));
  }
  for (const name of Object.keys(value)) {
    const named = ownValue(properties, name);
    const field = named ?? schemaOfField(schema, name);
    if (named === undefined && isRefusedNull(value[name], field))
      setKey(value, name, copy(field?.default ?? null));
    fill(value[name] as Json, field);
  }
}

function fillList(value: Json[], items: JsonSchema | undefined): void {
  value.forEach((each, index) => {
    if (isRefusedNull(each, items)) value[index] = copy(items?.default ?? null);
    fill(value[index] as Json, items);
  });
}

function hasDefault(schema: JsonSchema | undefined): schema is JsonSchema & { readonly default: Json } {
  return schema?.default !== undefined && schema.default !== null;
}

function isRefusedNull(value: Json | undefined, schema: JsonSchema | undefined): boolean {
  return value === null && schema !== undefined && schema.nullable !== true;
}

/** Each object gets its own copy of a default; otherwise a change of one would change the others. */
function copy(value: Json): Json {
  if (isJsonArray(value)) return value.map(copy);
  if (!isJsonObject(value)) return value;
  const copied: JsonDraft = {};
  for (const name of Object.keys(value)) setKey(copied, name, copy(value[name] as Json));
  return copied;
}
