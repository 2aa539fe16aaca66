import type { ResourceClient } from '../cluster/cluster.ts';
import type { KubeObject } from '../kube/api/meta.ts';
import { isReason } from '../kube/api-error.ts';

/**
 * Removes one finalizer from the version of an object that was read. If another client changed the object meanwhile, this fails with
 * `Conflict`, and the caller reads again; if the object was deleted, nothing needs to be done.
 */
export async function removeFinalizer<T extends KubeObject>(
  client: ResourceClient<T>,
  object: T,
  finalizer: string,
  signal: AbortSignal,
): Promise<void> {
  await removeFinalizers(client, object, [finalizer], signal);
}

/** As `removeFinalizer`, for several finalizers with one write. */
export async function removeFinalizers<T extends KubeObject>(
  client: ResourceClient<T>,
  { metadata }: T,
  removed: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const finalizers = (metadata?.finalizers ?? []).filter((name) => !removed.includes(name));
  const { uid, resourceVersion, namespace, name = '' } = metadata ?? {};
  const body = {
    metadata: { uid, resourceVersion, finalizers: finalizers.length === 0 ? null : finalizers },
  };
  try {
    await client.patch({ namespace, name }, { type: 'merge', body }, { signal });
  } catch (error) {
    if (!isReason(error, 'NotFound')) throw error;
  }
}
