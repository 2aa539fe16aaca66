import type { KubeObject } from './api/meta.ts';

/** Only its presence counts, not its value. */
export function hasAnnotation(object: KubeObject, name: string): boolean {
  return object.metadata?.annotations?.[name] !== undefined;
}
