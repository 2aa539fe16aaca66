import { jsonText } from '../../kube/go/json-text.ts';
import type { JsonObject } from '../../kube/go/json-value.ts';
import type { StoredObject } from '../kinds/served-kind.ts';
import { parseServerJson } from '../schema/json-reader.ts';
import type { JsonSchema } from '../schema/json-schema.ts';
import { applyDefaults, dropRefusedNulls } from '../structural/defaults.ts';
import { coerceEmbedded } from '../structural/embedded-meta.ts';
import { pruneUnknownFields } from '../structural/prune.ts';

/** The schemas of the served version and of the storage version. */
export interface ConversionSchemas {
  readonly shown: JsonSchema;
  readonly stored: JsonSchema;
}

/**
 * Converts a stored object to a served version: first to the current storage version, which may be newer than the
 * object, then without fields that the served version does not know. Returns the same object if nothing changes, so
 * that its bytes can be sent unchanged.
 */
export function toServedVersion<T extends StoredObject>(object: T, { shown, stored }: ConversionSchemas): T {
  const text = jsonText(object);
  const copy = parseServerJson(text) as T;
  pruneObject(copy, stored);
  withDefaults(copy, stored);
  if (shown !== stored) pruneObject(copy, shown);
  return jsonText(copy) === text ? object : copy;
}

/** Converts an object to the storage version; fields that it does not know are lost. */
export function toStorageVersion<T extends StoredObject>(object: T, { stored }: ConversionSchemas): T {
  const copy = structuredClone(object);
  pruneObject(copy, stored);
  dropRefusedNulls(copy as unknown as JsonObject, stored);
  coerceEmbedded(copy as unknown as JsonObject, stored);
  return copy;
}

function withDefaults(object: StoredObject, schema: JsonSchema): void {
  applyDefaults(object as unknown as JsonObject, schema);
}

function pruneObject(object: StoredObject, schema: JsonSchema): void {
  pruneUnknownFields(object as unknown as JsonObject, schema, { isResourceRoot: true });
}
