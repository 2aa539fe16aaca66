import { readFileSync } from 'node:fs';
import type { Json, JsonObject } from '../../../kube/go/json-value.ts';

/** What Kubernetes' own code makes of a patch. */
export interface PatchVector {
  readonly type: string;
  readonly original: JsonObject;
  readonly patch: Json;
  readonly result?: JsonObject;
  readonly error?: string;
}

/** What a real server answers to a patch of a pod. */
export interface RecordedAnswer {
  readonly type: 'json' | 'merge' | 'strategic';
  readonly patch: Json;
  /** The Status, without what all of them have; left out where the patch is fine. */
  readonly answer?: { readonly code: number; readonly reason?: string; readonly message: string };
}

export function readLines<T>(name: string): readonly T[] {
  const text = readFileSync(new URL(name, import.meta.url), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** So that whoever changes an argument is found out. */
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
