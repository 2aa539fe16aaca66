import {
  isJsonObject,
  type Json,
  type JsonDraft,
  type JsonObject,
  ownValue,
} from '../../kube/go/json-value.ts';
import type { JsonSchema } from './json-schema.ts';

/**
 * Takes away, in place, what the schema does not name, and returns the sorted paths of that, such as `spec.list[0].foo`. What an
 * object says of itself (`apiVersion`, `kind`, `metadata`) stays in embedded resources, and in the root where it is one.
 *
 * Below `x-kubernetes-preserve-unknown-fields` everything stays, but what is named there is pruned along its own schema.
 */
export function pruneUnknownFields(
  value: JsonObject,
  schema: JsonSchema,
  options: { readonly isResourceRoot: boolean },
): readonly string[] {
  const dropped: string[] = [];
  const walk: Walk = { dropped, isRoot: options.isResourceRoot };
  pruneValue(value, schema, '', walk);
  return dropped.sort();
}

/** The schema of what an object holds under a name; undefined where its schema says nothing of it. */
export function schemaOfField(schema: JsonSchema, name: string): JsonSchema | undefined {
  const named = ownValue(schema.properties, name);
  if (named !== undefined) return named;
  const rest = schema.additionalProperties;
  return typeof rest === 'object' ? rest : undefined;
}

interface Walk {
  readonly dropped: string[];
  /** Until the first level was entered. */
  isRoot: boolean;
}

const selfDescriptions: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

function pruneValue(value: Json, schema: JsonSchema | undefined, path: string, walk: Walk): void {
  if (Array.isArray(value)) pruneList(value, schema, path, walk);
  else if (isJsonObject(value)) pruneObject(value as JsonDraft, schema, path, walk);
}

function pruneObject(value: JsonDraft, schema: JsonSchema | undefined, path: string, walk: Walk): void {
  const isResource = walk.isRoot || schema?.['x-kubernetes-embedded-resource'] === true;
  const keepsUnknown = schema?.['x-kubernetes-preserve-unknown-fields'] === true;
  walk.isRoot = false;
  for (const name of Object.keys(value)) {
    if (isResource && selfDescriptions.has(name)) continue;
    if (isNamed(schema, name)) {
      const field = value[name] as Json;
      if (typeof field !== 'object') continue;
      pruneValue(field, schemaOfField(schema, name), fieldPath(path, name), walk);
    } else if (!keepsUnknown) {
      // At the root these are restored by whoever decoded the object, so nobody misses them.
      if (path !== '' || !selfDescriptions.has(name)) walk.dropped.push(fieldPath(path, name));
      delete value[name];
    }
  }
}

function pruneList(value: readonly Json[], schema: JsonSchema | undefined, path: string, walk: Walk): void {
  walk.isRoot = false;
  if (schema?.['x-kubernetes-preserve-unknown-fields'] === true) {
    keepElements(value, schema, path, walk);
    return;
  }
  value.forEach((each, index) => {
    if (typeof each === 'object') pruneValue(each, schema?.items, `${path}[${index}]`, walk);
  });
}

/** That unknown fields are kept holds for elements too, also where their own schema does not say it. */
function keepElements(value: readonly Json[], schema: JsonSchema, path: string, walk: Walk): void {
  const items = schema.items;
  if (items === undefined) return;
  const kept = { ...items, 'x-kubernetes-preserve-unknown-fields': true };
  value.forEach((each, index) => {
    if (typeof each === 'object') pruneValue(each, kept, `${path}[${index}]`, walk);
  });
}

/** With `additionalProperties: true` every name is known, but nothing of what is in there. */
function isNamed(schema: JsonSchema | undefined, name: string): schema is JsonSchema {
  if (schema === undefined) return false;
  return schema.additionalProperties !== undefined || ownValue(schema.properties, name) !== undefined;
}

function fieldPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
