import {
  isJsonObject,
  type Json,
  type JsonDraft,
  type JsonObject,
  ownValue,
} from '../../kube/go/json-value.ts';
import { FieldPath, ReportedPaths } from '../schema/field-path.ts';
import type { JsonSchema } from '../schema/json-schema.ts';

/**
 * Removes the fields that the schema does not name, in place, and returns their sorted paths, such as
 * `spec.list[0].foo`. `apiVersion`, `kind` and `metadata` stay in embedded resources, and in the root if it is a
 * resource.
 *
 * Below `x-kubernetes-preserve-unknown-fields` all fields stay, but fields that the schema names there are pruned by
 * their own schema.
 */
export function pruneUnknownFields(
  value: JsonObject,
  schema: JsonSchema,
  options: { readonly isResourceRoot: boolean },
): readonly string[] {
  const dropped = new ReportedPaths();
  const walk: PruneWalk = { dropped, isRoot: options.isResourceRoot };
  pruneValue(value, schema, FieldPath.root, walk);
  return dropped.texts.toSorted();
}

/** The schema of a field of an object; undefined if the schema does not describe it. */
export function schemaOfField(schema: JsonSchema, name: string): JsonSchema | undefined {
  const named = ownValue(schema.properties, name);
  if (named !== undefined) return named;
  const rest = schema.additionalProperties;
  return typeof rest === 'object' ? rest : undefined;
}

interface PruneWalk {
  readonly dropped: ReportedPaths;
  /** True until the walk enters the first level. */
  isRoot: boolean;
}

const typeAndMetadata: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

function pruneValue(value: Json, schema: JsonSchema | undefined, path: FieldPath, walk: PruneWalk): void {
  if (Array.isArray(value)) pruneList(value, schema, path, walk);
  else if (isJsonObject(value)) pruneObject(value as JsonDraft, schema, path, walk);
}

function pruneObject(
  value: JsonDraft,
  schema: JsonSchema | undefined,
  path: FieldPath,
  walk: PruneWalk,
): void {
  const isResource = walk.isRoot || schema?.['x-kubernetes-embedded-resource'] === true;
  const keepsUnknown = schema?.['x-kubernetes-preserve-unknown-fields'] === true;
  walk.isRoot = false;
  for (const name of Object.keys(value)) {
    if (isResource && typeAndMetadata.has(name)) continue;
    if (isKnownField(schema, name)) {
      const field = value[name] as Json;
      if (typeof field !== 'object') continue;
      pruneValue(field, schemaOfField(schema, name), path.child(name), walk);
    } else if (!keepsUnknown) {
      // The decoder restores these fields at the root, so removing them there is not reported.
      if (path !== FieldPath.root || !typeAndMetadata.has(name)) walk.dropped.add(path.child(name));
      delete value[name];
    }
  }
}

function pruneList(
  value: readonly Json[],
  schema: JsonSchema | undefined,
  path: FieldPath,
  walk: PruneWalk,
): void {
  walk.isRoot = false;
  if (schema?.['x-kubernetes-preserve-unknown-fields'] === true) {
    keepElements(value, schema, path, walk);
    return;
  }
  value.forEach((each, index) => {
    if (typeof each === 'object') pruneValue(each, schema?.items, path.child(index), walk);
  });
}

/** Preserving unknown fields also applies to the elements of a list, even if their own schema does not say so. */
function keepElements(value: readonly Json[], schema: JsonSchema, path: FieldPath, walk: PruneWalk): void {
  const items = schema.items;
  if (items === undefined) return;
  const kept = { ...items, 'x-kubernetes-preserve-unknown-fields': true };
  value.forEach((each, index) => {
    if (typeof each === 'object') pruneValue(each, kept, path.child(index), walk);
  });
}

/** `additionalProperties: true` makes every name known, but no field below it. */
function isKnownField(schema: JsonSchema | undefined, name: string): schema is JsonSchema {
  if (schema === undefined) return false;
  return schema.additionalProperties !== undefined || ownValue(schema.properties, name) !== undefined;
}
