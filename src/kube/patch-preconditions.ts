import type { KubeObject } from './api/meta.ts';

/** A merge patch that applies only to this object at this version; if another client wrote it meanwhile, the patch fails with `Conflict`. */
export function withPreconditions(object: KubeObject, change: object, version?: string): object {
  const { uid, resourceVersion } = object.metadata ?? {};
  const { metadata } = change as { readonly metadata?: object };
  return { ...change, metadata: { ...metadata, uid, resourceVersion: version ?? resourceVersion } };
}
