import { isReason } from '../../kube/api-error.ts';
import { apiVersionOf } from '../../kube/resource.ts';
import { storageNodes } from '../../kube/stowage/storage-node.ts';
import { undefinedIfNotFound } from '../../kube/undefined-if-not-found.ts';
import type { ControllerContext } from '../../reconcile/controller.ts';

/** The name of the disk in a StorageNode that this program creates. */
const diskName = 'default';

/** Creates a StorageNode with one disk, if it is missing. One that exists is not changed. */
export async function ensureStorageNode(
  { cluster, log }: Pick<ControllerContext, 'cluster' | 'log'>,
  { nodeName, diskPath }: { readonly nodeName: string; readonly diskPath: string },
  signal: AbortSignal,
): Promise<void> {
  const client = cluster.resource(storageNodes);
  const found = await undefinedIfNotFound(client.get({ name: nodeName }, { signal }));
  if (found !== undefined) {
    const paths = Object.values(found.spec?.disks ?? {}).map(({ path }) => path);
    if (!paths.includes(diskPath))
      log.warn(
        `StorageNode ${nodeName} exists without a disk at ${diskPath}; to use it, add it to spec.disks with kubectl edit storagenode ${nodeName}`,
      );
    return;
  }
  const spec = { disks: { [diskName]: { path: diskPath } } };
  const body = {
    apiVersion: apiVersionOf(storageNodes),
    kind: 'StorageNode',
    metadata: { name: nodeName },
    spec,
  };
  try {
    await client.create(body, { signal });
  } catch (error) {
    // Another process was faster.
    if (!isReason(error, 'AlreadyExists')) throw error;
  }
}
