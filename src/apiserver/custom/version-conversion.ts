import type { JsonObject } from '../../kube/go/json-value.ts';
import type { StoredObject } from '../kinds/served-kind.ts';
import { applyDefaults, dropRefusedNulls } from '../structural/defaults.ts';
import { coerceEmbedded } from '../structural/embedded-meta.ts';
import type { JsonSchema } from '../structural/json-schema.ts';
import { prune } from '../structural/prune.ts';

/** The schemas between which an object goes: one version shows it, another may be the one in which it is stored. */
export interface ConversionSchemas {
  readonly shown: JsonSchema;
  readonly stored: JsonSchema;
}

/**
 * A stored object as a version shows it: as the storage version has it today, which may be younger than the object, less what the version
 * does not know. The same object where there is nothing to do, so that its bytes can be sent as they are.
 */
export function toServedVersion<T extends StoredObject>(object: T, { shown, stored }: ConversionSchemas): T {
  const text = JSON.stringify(object);
  const copy = JSON.parse(text) as T;
  pruneObject(copy, stored);
  withDefaults(copy, stored);
  if (shown !== stored) pruneObject(copy, shown);
  return JSON.stringify(copy) === text ? object : copy;
}

/** What is left of an object when it is stored in another version: what that does not know either is lost. */
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
  prune(object as unknown as JsonObject, schema, { isResourceRoot: true });
}
