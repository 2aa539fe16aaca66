import type { Cluster } from '../../cluster/cluster.ts';
import { isReason } from '../../kube/api-error.ts';
import { withPreconditions } from '../../kube/patch-preconditions.ts';
import { type StorageNode, storageNodes } from '../../kube/stowage/storage-node.ts';
import { undefinedIfNotFound } from '../../kube/undefined-if-not-found.ts';
import { CliError } from '../errors/cli-error.ts';

/** How often a change is decided again after another client changed the node at the same time. */
const attemptsMax = 8;

/**
 * Changes a StorageNode by one versioned write. `decide` sees the current object and returns a merge patch, or undefined if there is nothing to
 * change; it is called again after a conflict.
 */
export async function editStorageNode(
  cluster: Cluster,
  name: string,
  decide: (node: StorageNode) => object | undefined,
): Promise<{ readonly node: StorageNode; readonly isChanged: boolean }> {
  const client = cluster.resource(storageNodes);
  for (let attempt = 1; ; attempt += 1) {
    const node = await undefinedIfNotFound(client.get({ name }));
    if (node === undefined)
      throw new CliError(`there is no StorageNode ${name}; stowage disks list shows the disks of all nodes`);
    const change = decide(node);
    if (change === undefined) return { node, isChanged: false };
    try {
      const body = withPreconditions(node, change);
      return { node: await client.patch({ name }, { type: 'merge', body }), isChanged: true };
    } catch (error) {
      if (!isReason(error, 'Conflict')) throw error;
      if (attempt === attemptsMax)
        throw new CliError(`StorageNode ${name} keeps changing; call the command again`, 1, { cause: error });
    }
  }
}
