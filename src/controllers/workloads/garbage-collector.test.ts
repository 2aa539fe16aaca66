import { expect, test } from 'vitest';
import type { Cluster } from '../../cluster/cluster.ts';
import type { ConfigMap } from '../../kube/api/core.ts';
import type { DeletionPropagation, OwnerReference } from '../../kube/api/meta.ts';
import { isReason } from '../../kube/api-error.ts';
import { configMaps } from '../../kube/resources.ts';
import { RealTimeCluster, untilGone, untilObject } from '../testing/real-time-cluster.ts';

const namespace = 'default';

function ownerOf({ metadata }: ConfigMap, blockOwnerDeletion = false): OwnerReference {
  const { name = '', uid = '' } = metadata ?? {};
  return { apiVersion: 'v1', kind: 'ConfigMap', name, uid, blockOwnerDeletion };
}

async function make(
  cluster: Cluster,
  name: string,
  ...ownerReferences: OwnerReference[]
): Promise<ConfigMap> {
  return await cluster.resource(configMaps).create({ metadata: { namespace, name, ownerReferences } });
}

async function remove(cluster: Cluster, name: string, propagationPolicy: DeletionPropagation): Promise<void> {
  await cluster.resource(configMaps).delete({ namespace, name }, { propagationPolicy });
}

test('deletes the dependents of a deleted owner, down to the last generation', async () => {
  await using fixture = await RealTimeCluster.start('garbage-collector');
  const { cluster } = fixture;
  const parent = await make(cluster, 'parent');
  const child = await make(cluster, 'child', ownerOf(parent));
  await make(cluster, 'grandchild', ownerOf(child));
  await remove(cluster, 'parent', 'Background');
  await untilGone(cluster.resource(configMaps), { namespace, name: 'grandchild' });
  await untilGone(cluster.resource(configMaps), { namespace, name: 'child' });
});

test('in the foreground the owner is removed last', async () => {
  await using fixture = await RealTimeCluster.start('garbage-collector');
  const { cluster } = fixture;
  const client = cluster.resource(configMaps);
  const parent = await make(cluster, 'parent');
  await make(cluster, 'child', ownerOf(parent, true));
  await client.patch(
    { namespace, name: 'child' },
    { type: 'merge', body: { metadata: { finalizers: ['example.com/hold'] } } },
  );
  await remove(cluster, 'parent', 'Foreground');
  await untilObject(
    client,
    { namespace, name: 'child' },
    ({ metadata }) => metadata?.deletionTimestamp !== undefined,
  );
  expect((await client.get({ namespace, name: 'parent' })).metadata?.finalizers).toEqual([
    'foregroundDeletion',
  ]);
  await client.patch(
    { namespace, name: 'child' },
    { type: 'merge', body: { metadata: { finalizers: null } } },
  );
  await untilGone(client, { namespace, name: 'parent' });
});

test('a dependent without blockOwnerDeletion does not block its owner', async () => {
  await using fixture = await RealTimeCluster.start('garbage-collector');
  const { cluster } = fixture;
  const client = cluster.resource(configMaps);
  const parent = await make(cluster, 'parent');
  await make(cluster, 'child', ownerOf(parent, false));
  await remove(cluster, 'parent', 'Foreground');
  await untilGone(client, { namespace, name: 'parent' });
  await untilGone(client, { namespace, name: 'child' });
});

test('an orphaned dependent stays, without its owner', async () => {
  await using fixture = await RealTimeCluster.start('garbage-collector');
  const { cluster } = fixture;
  const client = cluster.resource(configMaps);
  const parent = await make(cluster, 'parent');
  await make(cluster, 'child', ownerOf(parent));
  await remove(cluster, 'parent', 'Orphan');
  await untilGone(client, { namespace, name: 'parent' });
  expect((await client.get({ namespace, name: 'child' })).metadata?.ownerReferences).toBeUndefined();
});

test('one existing owner is enough, and the missing one is removed from the list', async () => {
  await using fixture = await RealTimeCluster.start('garbage-collector');
  const { cluster } = fixture;
  const client = cluster.resource(configMaps);
  const [one, two] = [await make(cluster, 'one'), await make(cluster, 'two')];
  await make(cluster, 'child', ownerOf(one), ownerOf(two));
  await remove(cluster, 'one', 'Background');
  await untilObject(
    client,
    { namespace, name: 'child' },
    ({ metadata }) => metadata?.ownerReferences?.length === 1,
  );
  expect((await client.get({ namespace, name: 'child' })).metadata?.ownerReferences?.[0]?.name).toBe('two');
});

test('an owner of the same name with another uid is another owner', async () => {
  await using fixture = await RealTimeCluster.start('garbage-collector');
  const { cluster } = fixture;
  const parent = await make(cluster, 'parent');
  await make(cluster, 'child', { ...ownerOf(parent), uid: '00000000-0000-4000-8000-000000000000' });
  await untilGone(cluster.resource(configMaps), { namespace, name: 'child' });
});

test('an owner of a kind that is not served keeps its dependents', async () => {
  await using fixture = await RealTimeCluster.start('garbage-collector');
  const { cluster } = fixture;
  const unknown = { apiVersion: 'example.com/v1', kind: 'Widget', name: 'w', uid: 'u' };
  await make(cluster, 'kept', unknown);
  const gone = await make(cluster, 'owner');
  await make(cluster, 'lost', ownerOf(gone));
  await remove(cluster, 'owner', 'Background');
  await untilGone(cluster.resource(configMaps), { namespace, name: 'lost' });
  expect(await cluster.resource(configMaps).get({ namespace, name: 'kept' })).toBeDefined();
});

test('dependents left behind before its start are found', async () => {
  await using fixture = await RealTimeCluster.start();
  const { cluster, errors } = fixture;
  const parent = await make(cluster, 'parent');
  await make(cluster, 'child', ownerOf(parent));
  await remove(cluster, 'parent', 'Background');
  fixture.run('garbage-collector');
  await untilGone(cluster.resource(configMaps), { namespace, name: 'child' });
  expect(errors.filter(({ error }) => !isReason(error, 'Conflict'))).toEqual([]);
});
