import type { ResourceClient } from '../../../cluster/cluster.ts';
import type { KubeObject } from '../../../kube/api/meta.ts';
import { isReason } from '../../../kube/api-error.ts';

/** Deletes the version that was read; fails if another client changed it meanwhile. False if it was already gone. */
export async function deleteIfUnchanged<T extends KubeObject>(
  client: ResourceClient<T>,
  { metadata }: T,
  signal: AbortSignal,
): Promise<boolean> {
  const { namespace, name = '', uid = '', resourceVersion = '' } = metadata ?? {};
  try {
    await client.delete({ namespace, name }, { preconditions: { uid, resourceVersion }, signal });
    return true;
  } catch (error) {
    if (isReason(error, 'NotFound')) return false;
    throw error;
  }
}
