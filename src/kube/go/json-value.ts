import { JsonNumber } from './json-number.ts';

/** Integers between 2^53 and 2^63, also negative ones, are bigints; all other numbers are doubles. */
export type Json = null | boolean | number | bigint | string | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [name: string]: Json;
}

/** An object under construction that no other code refers to yet. */
export type JsonDraft = Record<string, Json>;

/** Whether the value is what JSON writes in braces. */
export function isJsonObject(value: unknown): value is JsonObject {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber)
  );
}

export function isJsonArray(value: unknown): value is readonly Json[] {
  return Array.isArray(value);
}

/** Whether an object has no keys. */
export function isEmptyObject(value: object): boolean {
  for (const _ in value) return false;
  return true;
}

/** Reads own properties only: `constructor` and other inherited names are ordinary keys of JSON. */
export function ownValue<T>(object: { readonly [name: string]: T } | undefined, name: string): T | undefined {
  return object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Sets a property of any name: plain assignment to `__proto__` would change the object's prototype instead. */
export function setKey<T>(target: Record<string, T>, key: string, value: NoInfer<T>): void {
  if (key !== '__proto__') target[key] = value;
  else Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

/** Leaves null fields out, at any depth; null elements of lists stay. */
export function withoutNulls(value: Json): Json {
  if (isJsonArray(value)) return value.map(withoutNulls);
  if (!isJsonObject(value)) return value;
  const kept: JsonDraft = {};
  for (const name of Object.keys(value)) {
    const field = value[name]!;
    if (field !== null) setKey(kept, name, withoutNulls(field));
  }
  return kept;
}

/** The name that the error messages of Go's encoding/json use for a kind of JSON value. */
export function jsonKindName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return value instanceof JsonNumber || typeof value === 'bigint' ? 'number' : typeof value;
}
