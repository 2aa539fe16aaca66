import type { KubeObject } from '../../kube/api/meta.ts';
import type { Resource } from '../../kube/resource.ts';

/** The objects of a store as of the version that is checked; invariants only read them. */
export interface StoredObjects {
  /** Keyed by `name` or `namespace/name`. */
  get<T extends KubeObject>(resource: Resource<T>, key: string): T | undefined;
  values<T extends KubeObject>(resource: Resource<T>): Iterable<T>;
}
