import {
  checkDepth,
  type Draft,
  isObject,
  type JsonObject,
  jsonKind,
  own,
  put,
  withoutNulls,
} from './json-value.ts';
import { malformedPatch } from './patch-error.ts';

/**
 * Applies a JSON merge patch (RFC 7386): null removes, objects merge, all else replaces. Nulls inside of what is added are
 * dropped, also inside of lists. Returns a new object that shares what did not change; neither argument changes.
 */
export function applyMergePatch(original: JsonObject, patch: unknown): JsonObject {
  checkDepth(patch);
  if (patch === null) throw malformedPatch('Invalid JSON Patch');
  if (!isObject(patch)) {
    const kind = jsonKind(patch);
    throw malformedPatch(
      `error decoding patch: json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`,
    );
  }
  return merge(original, patch);
}

function merge(original: JsonObject, patch: JsonObject): JsonObject {
  const merged: Draft = { ...original };
  for (const name of Object.keys(patch)) {
    const change = patch[name]!;
    const current = own(original, name);
    if (change === null) delete merged[name];
    else if (isObject(current)) put(merged, name, isObject(change) ? merge(current, change) : change);
    else put(merged, name, withoutNulls(change));
  }
  return merged;
}
