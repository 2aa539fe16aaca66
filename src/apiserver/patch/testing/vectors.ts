import { readFileSync } from 'node:fs';
import type { Json, JsonObject } from '../../../kube/go/json-value.ts';

/** The result of Kubernetes' own code for a patch. */
export interface PatchVector {
  readonly type: string;
  readonly original: JsonObject;
  readonly patch: Json;
  readonly result?: JsonObject;
  readonly error?: string;
}

/** The response of a real server to a patch of a pod. */
export interface RecordedAnswer {
  readonly type: 'json' | 'merge' | 'strategic';
  readonly patch: Json;
  /** The Status, without the fields that are equal in all of them; absent if the patch is valid. */
  readonly answer?: { readonly code: number; readonly reason?: string; readonly message: string };
}

export function readLines<T>(name: string): readonly T[] {
  const text = readFileSync(new URL(name, import.meta.url), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** Freezes a value, so that a test fails if a function changes its arguments. */
export function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    Object.freeze(value);
    for (const inner of Object.values(value)) frozen(inner);
  }
  return value;
}

export function patchErrorMessage(action: () => unknown): string | undefined {
  try {
    action();
    return undefined;
  } catch (error) {
    return error instanceof Error && error.name === 'PatchError'
      ? error.message
      : `not a PatchError: ${error}`;
  }
}
