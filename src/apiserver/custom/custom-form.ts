import { badRequest } from '../../kube/api-error.ts';
import type { JsonObject } from '../../kube/go/json-value.ts';
import { isJsonObject, jsonKindName } from '../../kube/go/json-value.ts';
import type { JsonSchema } from '../schema/json-schema.ts';
import { copyJson } from '../schema/leaf-values.ts';
import { type Normalized, normalize } from '../schema/normalize.ts';
import type { ObjectForm } from '../schema/object-form.ts';
import { dropRefusedNulls } from '../structural/defaults.ts';
import { coerceEmbedded } from '../structural/embedded-meta.ts';
import { pruneUnknownFields } from '../structural/prune.ts';

/**
 * Decodes custom resources: drops fields that the schema does not know, and decodes metadata like that of every object.
 * The schema is validated later, after defaulting.
 */
export function customForm(schema: JsonSchema): ObjectForm {
  return {
    normalize: (value, { isMerged } = { isMerged: false }) => normalizeCustom(schema, value, isMerged),
    zero: () => ({ metadata: normalize('meta/v1.ObjectMeta', {}).object }),
    // Custom resources have no canonical form besides their JSON.
    dropEmptyLists: () => {},
  };
}

function normalizeCustom(schema: JsonSchema, value: unknown, isMerged: boolean): Normalized {
  if (!isJsonObject(value)) throw badRequest(`expected an object, got ${jsonKindName(value)}`);
  const { metadata: given, apiVersion, kind, ...rest } = value;
  const meta = normalizeMeta(given);
  const copy = copyJson(rest);
  if (!isJsonObject(copy)) {
    throw badRequest('a number in the object is beyond the range of float64');
  }
  const object: Record<string, unknown> = { kind, apiVersion, metadata: meta.object, ...copy };
  const dropped = pruneUnknownFields(object as JsonObject, schema, { isResourceRoot: true });
  if (!isMerged) dropRefusedNulls(object as JsonObject, schema);
  const embedded = isMerged ? [] : coerceEmbedded(object as JsonObject, schema);
  const unknownMeta = meta.unknownFields.map((field) => `metadata.${field}`);
  return { object, unknownFields: [...dropped, ...unknownMeta, ...embedded].sort() };
}

function normalizeMeta(value: unknown): Normalized {
  return normalize('meta/v1.ObjectMeta', value ?? {});
}
