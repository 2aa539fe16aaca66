import type { Projected } from '../../cluster/cluster.ts';
import type { KubeObject } from '../../kube/api/meta.ts';

/**
 * What of an object a cache keeps. It gets the object without managedFields; it must not change it, and must leave name,
 * namespace, uid and resourceVersion in place.
 */
export type Projection<T extends KubeObject> = (object: T) => T;

/** managedFields alone are half of most objects. Nobody reads them from a cache. */
export function project<T extends KubeObject>(
  object: T,
  projection: Projection<T> | undefined,
): Projected<T> {
  const lean = withoutManagedFields(object);
  return (projection === undefined ? lean : projection(lean)) as Projected<T>;
}

function withoutManagedFields<T extends KubeObject>(object: T): T {
  if (object.metadata?.managedFields === undefined) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
