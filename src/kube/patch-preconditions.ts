import type { KubeObject } from './api/meta.ts';

/** A merge patch that only holds for this object at this version; somebody else's write in between makes it `Conflict`. */
export function withPreconditions(object: KubeObject, change: object, version?: string): object {
  const { uid, resourceVersion } = object.metadata ?? {};
  const { metadata } = change as { readonly metadata?: object };
  return { ...change, metadata: { ...metadata, uid, resourceVersion: version ?? resourceVersion } };
}
