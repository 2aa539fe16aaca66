import type { ResourceClient } from '../cluster/cluster.ts';
import type { KubeObject } from '../kube/api/meta.ts';
import { isReason } from '../kube/api-error.ts';

/**
 * Takes one finalizer off the version of an object that was read. Somebody who changed it meanwhile makes this fail with
 * `ReservationConflict`, and the caller looks again; an object that is gone needs no more.
 */
export async function removeFinalizer<T extends KubeObject>(
  client: ResourceClient<T>,
  { metadata }: T,
  finalizer: string,
  signal: AbortSignal,
): Promise<void> {
  const finalizers = (metadata?.finalizers ?? []).filter((name) => name !== finalizer);
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
