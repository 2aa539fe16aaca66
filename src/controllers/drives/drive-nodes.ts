import type { Cluster } from '../../cluster/cluster.ts';
import type { Node } from '../../kube/api/core.ts';
import { driveNodeKey, drivesDriver } from '../../kube/drive.ts';
import { csiNodes, nodes } from '../../kube/resources.ts';
import { undefinedIfNotFound } from '../../kube/undefined-if-not-found.ts';

/**
 * Gives a node with drives the label that its volumes are pinned by, and an entry in the CSINode, as a kubelet does with a node plugin. The label
 * comes first: readers of the entry rely on it. An existing label or entry stays. Every write carries the version that was read.
 */
export async function registerDriveNode(cluster: Cluster, name: string, signal: AbortSignal): Promise<void> {
  const node = await undefinedIfNotFound(cluster.resource(nodes).get({ name }, { signal }));
  // It is registered when it is added.
  if (node === undefined) return;
  if (node.metadata?.labels?.[driveNodeKey] === undefined) {
    const { uid, resourceVersion } = node.metadata ?? {};
    const body = { metadata: { uid, resourceVersion, labels: { [driveNodeKey]: name } } };
    await cluster.resource(nodes).patch({ name }, { type: 'merge', body }, { signal });
  }
  await addEntry(cluster, node, signal);
}

async function addEntry(cluster: Cluster, node: Node, signal: AbortSignal): Promise<void> {
  const { name = '', uid = '' } = node.metadata ?? {};
  const client = cluster.resource(csiNodes);
  const entry = { name: drivesDriver, nodeID: name, topologyKeys: [driveNodeKey] };
  const found = await undefinedIfNotFound(client.get({ name }, { signal }));
  if (found === undefined) {
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name, uid }];
    await client.create({ metadata: { name, ownerReferences }, spec: { drivers: [entry] } }, { signal });
    return;
  }
  const entries = found.spec?.drivers ?? [];
  if (entries.some((driver) => driver.name === drivesDriver)) return;
  const { resourceVersion } = found.metadata ?? {};
  const metadata = { uid: found.metadata?.uid, resourceVersion };
  const body = { metadata, spec: { drivers: [...entries, entry] } };
  await client.patch({ name }, { type: 'merge', body }, { signal });
}
