import type { KubeObject } from './api/meta.ts';

/** Whether the annotation is present, with any value. */
export function hasAnnotation(object: KubeObject, name: string): boolean {
  return object.metadata?.annotations?.[name] !== undefined;
}
