import { expect, test } from 'vitest';
import type { Cluster } from '../../cluster/cluster.ts';
import type { ObjectMeta, OwnerReference } from '../../kube/api/meta.ts';
import { configMaps, namespaces, persistentVolumes } from '../../kube/resources.ts';
import { RealTimeCluster, untilGone, untilObject } from '../testing/real-time-cluster.ts';

const namespace = 'default';

async function make(cluster: Cluster, metadata: ObjectMeta): Promise<OwnerReference> {
  const created = await cluster.resource(configMaps).create({ metadata: { namespace, ...metadata } });
  const { name = '', uid = '' } = created.metadata ?? {};
  return { apiVersion: 'v1', kind: 'ConfigMap', name, uid };
}

/** Deletes an object in the usual way, which shows that the collector runs. */
async function untilCollectorRuns({ cluster }: RealTimeCluster): Promise<void> {
  const owner = await make(cluster, { name: 'last-owner' });
  await make(cluster, { name: 'last', ownerReferences: [owner] });
  await cluster.resource(configMaps).delete({ namespace, name: 'last-owner' });
  await untilGone(cluster.resource(configMaps), { namespace, name: 'last' });
}

test('an owner that was recreated under its name is another one', async () => {
  await using fixture = await RealTimeCluster.start();
  const { cluster } = fixture;
  const client = cluster.resource(configMaps);
  const first = await make(cluster, { name: 'owner' });
  await make(cluster, { name: 'of-first', ownerReferences: [first] });
  await client.delete({ namespace, name: 'owner' });
  const second = await make(cluster, { name: 'owner' });
  await make(cluster, { name: 'of-second', ownerReferences: [second] });
  await make(cluster, { name: 'of-both', ownerReferences: [first, second] });
  fixture.run('garbage-collector');
  await untilGone(client, { namespace, name: 'of-first' });
  await untilObject(client, { namespace, name: 'of-both' }, ({ metadata }) => {
    const uids = (metadata?.ownerReferences ?? []).map(({ uid }) => uid);
    return uids.length === 1 && uids[0] === second.uid;
  });
  expect(await client.get({ namespace, name: 'of-second' })).toBeDefined();
});

test('owners are looked up only in the namespace of the dependent', async () => {
  await using fixture = await RealTimeCluster.start('garbage-collector');
  const { cluster } = fixture;
  await cluster.resource(namespaces).create({ metadata: { name: 'elsewhere' } });
  const owner = await make(cluster, { namespace: 'elsewhere', name: 'owner' });
  await make(cluster, { name: 'lost', ownerReferences: [owner] });
  await untilGone(cluster.resource(configMaps), { namespace, name: 'lost' });
  expect(await cluster.resource(configMaps).get({ namespace: 'elsewhere', name: 'owner' })).toBeDefined();
});

test('a cluster-wide object with a namespaced owner stays', async () => {
  await using fixture = await RealTimeCluster.start('garbage-collector');
  const { cluster } = fixture;
  const owner = await make(cluster, { name: 'owner' });
  const client = cluster.resource(persistentVolumes);
  await client.create({
    metadata: { name: 'kept', ownerReferences: [{ ...owner, uid: '00000000-0000-4000-8000-000000000000' }] },
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/mnt/a' } },
  });
  await untilCollectorRuns(fixture);
  expect((await client.get({ name: 'kept' })).metadata?.deletionTimestamp).toBeUndefined();
});

test('a cluster-wide owner keeps its dependents in a namespace', async () => {
  await using fixture = await RealTimeCluster.start('garbage-collector');
  const { cluster } = fixture;
  const { metadata } = await cluster.resource(namespaces).create({ metadata: { name: 'owner' } });
  const owner = { apiVersion: 'v1', kind: 'Namespace', name: 'owner', uid: metadata?.uid ?? '' };
  await make(cluster, { name: 'kept', ownerReferences: [owner] });
  await untilCollectorRuns(fixture);
  expect(await cluster.resource(configMaps).get({ namespace, name: 'kept' })).toBeDefined();
});
