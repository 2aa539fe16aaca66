import {
  isJsonObject,
  type JsonDraft,
  type JsonObject,
  jsonKindName,
  ownValue,
  setKey,
  withoutNulls,
} from '../../kube/go/json-value.ts';
import { checkPatchDepth } from './patch-depth.ts';
import { malformedPatch } from './patch-error.ts';

/**
 * Applies a JSON merge patch (RFC 7386): null removes, objects merge, any other value replaces. Nulls within added
 * values are dropped, also within lists. Returns a new object that shares unchanged parts with the original; neither
 * argument changes.
 */
export function applyMergePatch(original: JsonObject, patch: unknown): JsonObject {
  checkPatchDepth(patch);
  if (patch === null) throw malformedPatch('Invalid JSON Patch');
  if (!isJsonObject(patch)) {
    const kind = jsonKindName(patch);
    throw malformedPatch(
      `error decoding patch: json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`,
    );
  }
  return merge(original, patch);
}

function merge(original: JsonObject, patch: JsonObject): JsonObject {
  const merged: JsonDraft = { ...original };
  for (const name of Object.keys(patch)) {
    const change = patch[name]!;
    const current = ownValue(original, name);
    if (change === null) delete merged[name];
    else if (isJsonObject(current))
      setKey(merged, name, isJsonObject(change) ? merge(current, change) : change);
    else setKey(merged, name, withoutNulls(change));
  }
  return merged;
}
