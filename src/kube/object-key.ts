import type { KubeObject } from './api/meta.ts';
import type { ObjectKey } from './resource.ts';

/** `namespace/name`, or `name` for cluster-wide objects. Caches and work queues use it as key. */
export function keyOf({ metadata }: KubeObject): string {
  const { name = '', namespace } = metadata ?? {};
  return namespace ? `${namespace}/${name}` : name;
}

/** The inverse of {@link keyOf}: names contain no slash. */
export function parseKey(key: string): ObjectKey {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
