import type { Cluster } from '../../../src/cluster/cluster.ts';
import { csiNodes, nodes, persistentVolumeClaims, persistentVolumes } from '../../../src/kube/resources.ts';
import { drives } from '../../../src/kube/stowage/drive.ts';
import { annotations } from '../../../src/kube/well-known.ts';
import { accessModes, until } from './run-scheduler.ts';

const namespace = 'default';
const gib = 2 ** 30;

/** Node `n1`, on which the driver is registered, with a drive of 10 GiB. */
export async function makeNodeWithDrive(cluster: Cluster): Promise<void> {
  const topologyKey = 'stowage.dev/node';
  await cluster.resource(nodes).create({ metadata: { name: 'n1', labels: { [topologyKey]: 'n1' } } });
  const own = [{ name: 'drives.stowage.dev', nodeID: 'n1', topologyKeys: [topologyKey] }];
  await cluster.resource(csiNodes).create({ metadata: { name: 'n1' }, spec: { drivers: own } });
  const client = cluster.resource(drives);
  const created = await client.create({
    apiVersion: 'stowage.dev/v1alpha1',
    kind: 'Drive',
    metadata: { name: 'd1' },
    spec: { nodeName: 'n1', filesystemUUID: '00000000-0000-4000-8000-000000000001' },
  });
  const status = { capacityBytes: 10 * gib, state: 'Ready' };
  await client.update({ ...created, status }, { subresource: 'status' });
}

/** A scheduler has selected its node. `isPublished`: the figure that the volume changed; without it, a claim that lives shortly leaves the published one as it was. */
export async function claimThroughItsLife(
  cluster: Cluster,
  isPublished: () => Promise<boolean>,
): Promise<void> {
  const claims = cluster.resource(persistentVolumeClaims);
  const key = { namespace, name: 'data' };
  await claims.create({
    metadata: { ...key, annotations: { [annotations.selectedNode]: 'n1' } },
    spec: { accessModes, storageClassName: 'stowage-drives', resources: { requests: { storage: '1Gi' } } },
  });
  await until(async () => (await claims.get(key)).status?.phase === 'Bound', 200);
  const body = { spec: { resources: { requests: { storage: '2Gi' } } } };
  await claims.patch(key, { type: 'merge', body }, {});
  const volumes = cluster.resource(persistentVolumes);
  await until(async () => (await volumes.list()).items[0]?.spec?.capacity?.storage === '2Gi', 200);
  const conditions = async () => (await claims.get(key)).status?.conditions ?? [];
  await until(async () => (await conditions()).some(({ type }) => type === 'FileSystemResizePending'), 200);
  await until(isPublished, 200);
  await claims.delete(key);
  await until(async () => (await volumes.list()).items.length === 0, 200);
}
