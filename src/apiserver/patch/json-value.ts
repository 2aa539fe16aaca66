import { malformedPatch } from './patch-error.ts';

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [name: string]: Json;
}

/** An object under construction; nobody else has it yet. */
export type Draft = Record<string, Json>;

/** No API type comes near; what is deeper was made to exhaust a stack. */
const depthMax = 512;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isArray(value: unknown): value is readonly Json[] {
  return Array.isArray(value);
}

/** Own properties only: `constructor` and the like are names as good as any. */
export function own(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Sets a property of any name; assigning `__proto__` would set something else. */
export function put(draft: Draft, name: string, value: Json): void {
  if (name === '__proto__') {
    Object.defineProperty(draft, name, { value, writable: true, enumerable: true, configurable: true });
  } else {
    draft[name] = value;
  }
}

export function isEqual(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (isArray(a)) return isArray(b) && a.length === b.length && a.every((item, i) => isEqual(item, b[i]));
  if (!isObject(a) || !isObject(b)) return false;
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => Object.hasOwn(b, name) && isEqual(a[name], b[name]));
}

/** Leaves null fields out, at any depth; null elements of lists stay. */
export function withoutNulls(value: Json): Json {
  if (isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const kept: Draft = {};
  for (const name of Object.keys(value)) {
    const field = value[name]!;
    if (field !== null) put(kept, name, withoutNulls(field));
  }
  return kept;
}

/** Throws for a patch that is nested so deep that walking it would overflow the stack. */
export function checkDepth(value: unknown, depthLeft: number = depthMax): void {
  if (typeof value !== 'object' || value === null) return;
  if (depthLeft === 0) throw malformedPatch('exceeded max depth');
  if (Array.isArray(value)) {
    for (const item of value) checkDepth(item, depthLeft - 1);
  } else {
    for (const item of Object.values(value)) checkDepth(item, depthLeft - 1);
  }
}

/** How decoding errors of Go name what they met. */
export function jsonKind(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}
