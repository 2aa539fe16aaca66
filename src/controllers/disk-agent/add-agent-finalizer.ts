import type { ResourceClient } from '../../cluster/cluster.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { diskAgentFinalizer } from '../../kube/stowage/replica.ts';

/** Adds the agent's finalizer to the version of an object that was read, before a file of it is made. Fails with `Conflict` if the object has changed. */
export async function addAgentFinalizer<T extends KubeObject>(
  client: ResourceClient<T>,
  object: T,
  signal: AbortSignal,
): Promise<T> {
  const { uid, resourceVersion, name = '', finalizers = [] } = object.metadata ?? {};
  if (finalizers.includes(diskAgentFinalizer)) return object;
  const body = { metadata: { uid, resourceVersion, finalizers: [...finalizers, diskAgentFinalizer] } };
  return await client.patch({ name }, { type: 'merge', body }, { signal });
}
