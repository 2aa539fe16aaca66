import type { Projected } from '../../cluster/cluster.ts';
import type { KubeObject } from '../../kube/api/meta.ts';

/**
 * What a cache keeps of an object. It receives the object without managedFields; it must not modify it, and must keep name,
 * namespace, uid and resourceVersion.
 */
export type Projection<T extends KubeObject> = (object: T) => T;

/** managedFields are half of most objects, and no reader of a cache needs them. */
export function project<T extends KubeObject>(
  object: T,
  projection: Projection<T> | undefined,
): Projected<T> {
  const stripped = withoutManagedFields(object);
  return (projection === undefined ? stripped : projection(stripped)) as Projected<T>;
}

function withoutManagedFields<T extends KubeObject>(object: T): T {
  if (object.metadata?.managedFields === undefined) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
