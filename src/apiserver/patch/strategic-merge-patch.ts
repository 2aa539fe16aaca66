import { formatGoString, formatGoValue, goTypeName, reflectedTypeName } from '../../kube/go/format-value.ts';
import {
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonDraft,
  type JsonObject,
  jsonKindName,
  ownValue,
  setKey,
  withoutNulls,
} from '../../kube/go/json-value.ts';
import type { FieldShape, ListShape, MergeShape } from './merge-shape.ts';
import { checkPatchDepth } from './patch-depth.ts';
import { failedPatch, malformedPatch } from './patch-error.ts';
import { type MergeMaps, mergeInOrder, mergeLists } from './strategic-list-merge.ts';
import { orderPrefix, readOrder } from './strategic-order.ts';

const directive = '$patch';
const retainKeys = '$retainKeys';
const deletionPrefix = '$deleteFromPrimitiveList';

/**
 * Applies a strategic merge patch: like a merge patch, but lists merge by the keys that the shape declares, and
 * directives in the patch delete, replace, prune and order. Returns a new object that shares unchanged parts with the
 * original; neither argument changes.
 */
export function applyStrategicMergePatch(
  original: JsonObject,
  patch: unknown,
  shape: MergeShape,
): JsonObject {
  checkPatchDepth(patch);
  if (patch === null) return original;
  if (!isJsonObject(patch)) {
    throw malformedPatch(
      `json: cannot unmarshal ${jsonKindName(patch)} into Go value of type map[string]interface {}`,
    );
  }
  return mergeMaps(original, patch, shape);
}

const mergeMaps: MergeMaps = (original, patch, shape) => {
  if (Object.hasOwn(patch, directive)) return followDirective(patch);
  const merged: JsonDraft = { ...original };
  const pending: JsonDraft = { ...patch };
  pruneToRetained(merged, pending);
  for (const name of Object.keys(pending)) {
    if (name.startsWith(orderPrefix)) mergeOrderedList(merged, pending, name, shape);
  }
  for (const name of Object.keys(pending)) mergeField(merged, name, pending[name]!, shape);
  return merged;
};

function followDirective(patch: JsonObject): JsonObject {
  const { [directive]: what, ...rest } = patch;
  if (what === 'replace') return rest;
  if (what === 'delete') return {};
  throw failedPatch(`unknown patch type: ${formatGoString(what)} in map: ${formatGoValue(patch)}`);
}

/** `$retainKeys` lists all fields that may stay; it must include every field that the patch itself sets. */
function pruneToRetained(merged: JsonDraft, pending: JsonDraft): void {
  if (!Object.hasOwn(pending, retainKeys)) return;
  const list = pending[retainKeys];
  delete pending[retainKeys];
  if (!isJsonArray(list)) throw malformedPatch('invalid patch format of retainKeys');
  const retained = new Set(list);
  for (const name of Object.keys(pending)) {
    if (pending[name] === null || name.startsWith(deletionPrefix) || name.startsWith(orderPrefix)) continue;
    if (!retained.has(name)) throw malformedPatch('invalid patch format of retainKeys');
  }
  for (const name of Object.keys(merged)) {
    if (!retained.has(name)) delete merged[name];
  }
}

/** Merges the list that `$setElementOrder/name` refers to, and sorts it into the requested order. */
function mergeOrderedList(
  merged: JsonDraft,
  pending: JsonDraft,
  directiveName: string,
  shape: MergeShape,
): void {
  const order = pending[directiveName]!;
  delete pending[directiveName];
  const { name, wanted } = readOrder(directiveName, order);
  const current = listOrUndefined(ownValue(merged, name));
  const change = listOrUndefined(ownValue(pending, name));
  const { field, list } = listField(shape, name);
  const ordered = mergeInOrder({ current, change, wanted, field, list, mergeMaps, withoutDirectives });
  if (ordered === undefined) return;
  setKey(merged, name, ordered);
  delete pending[name];
}

function listOrUndefined(value: Json | undefined): readonly Json[] | undefined {
  if (value === undefined || isJsonArray(value)) return value;
  throw failedPatch(`expected a []interface {}, but received a ${reflectedTypeName(value)}`);
}

function mergeField(merged: JsonDraft, rawName: string, change: Json, shape: MergeShape): void {
  const isDeletion = rawName.startsWith(deletionPrefix);
  const name = (isDeletion && deletedListName(rawName)) || rawName;
  const current = ownValue(merged, name);
  if (change === null) {
    delete merged[name];
  } else if (current === undefined || goTypeName(current) !== goTypeName(change)) {
    if (!isDeletion) setWithoutDirectives(merged, name, withoutNulls(change));
  } else if (isJsonObject(current) && isJsonObject(change)) {
    const { strategy, shape: inner } = fieldOf(shape, name);
    setKey(merged, name, strategy === 'replace' ? change : mergeMaps(current, change, inner));
  } else if (isJsonArray(current) && isJsonArray(change)) {
    const { field, list } = listField(shape, name);
    const isMerging = isDeletion || field.strategy === 'merge';
    setKey(
      merged,
      name,
      isMerging ? mergeLists({ current, change, field, list, mergeMaps, isDeletion }) : change,
    );
  } else {
    setKey(merged, name, change);
  }
}

function deletedListName(rawName: string): string {
  const [prefix, ...rest] = rawName.split('/');
  if (prefix !== deletionPrefix || rest.length === 0) {
    throw malformedPatch('invalid patch format of primitive list');
  }
  return rest.join('/');
}

function fieldOf(shape: MergeShape, name: string): FieldShape {
  if (shape.kind !== 'struct') {
    const kind = shape.kind === 'list' ? 'slice' : shape.kind === 'map' ? 'map' : 'string';
    throw failedPatch(`merging an object in json but data type is not struct, instead is: ${kind}`);
  }
  const field = shape.fields.get(name);
  if (field !== undefined) return field;
  throw failedPatch(
    `unable to find api field in struct ${shape.name} for the json field ${JSON.stringify(name)}`,
  );
}

function listField(shape: MergeShape, name: string): { field: FieldShape; list: ListShape } {
  const field = fieldOf(shape, name);
  if (field.shape.kind === 'list') return { field, list: field.shape };
  throw failedPatch('expected slice or array type, but got: struct');
}

/** Without a current value to merge with, directives have no effect and are dropped. */
function setWithoutDirectives(merged: JsonDraft, name: string, value: Json): void {
  const plain = withoutDirectives(value);
  if (plain === undefined) delete merged[name];
  else setKey(merged, name, plain);
}

function withoutDirectives(value: Json): Json | undefined {
  if (isJsonArray(value)) return value.map(withoutDirectives).filter((item) => item !== undefined);
  if (!isJsonObject(value)) return value;
  if (Object.hasOwn(value, directive)) return undefined;
  const kept: JsonDraft = {};
  for (const name of Object.keys(value)) {
    const field = withoutDirectives(value[name]!);
    if (field !== undefined) setKey(kept, name, field);
  }
  return kept;
}
