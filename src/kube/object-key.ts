import type { KubeObject } from './api/meta.ts';
import type { ObjectKey } from './resource.ts';

/** `namespace/name`, or `name` for cluster-wide objects: what caches and work queues go by. */
export function keyOf({ metadata }: KubeObject): string {
  const { name = '', namespace } = metadata ?? {};
  return namespace ? `${namespace}/${name}` : name;
}

/** Names hold no slash. */
export function parseKey(key: string): ObjectKey {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
