import { expect, test } from 'vitest';
import type { Cluster } from '../../cluster/cluster.ts';
import type { DeletionPropagation } from '../../kube/api/meta.ts';
import { configMaps } from '../../kube/resources.ts';
import { RealTimeCluster, untilGone, untilObject } from '../testing/real-time-cluster.ts';

const namespace = 'default';

/** Creates objects and then makes them own each other: `a: ['b']` means that a is owned by b, and blocks its deletion. */
async function makeOwned(
  cluster: Cluster,
  owners: Readonly<Record<string, readonly string[]>>,
): Promise<void> {
  const client = cluster.resource(configMaps);
  for (const name of Object.keys(owners)) await client.create({ metadata: { namespace, name } });
  for (const [name, ownedBy] of Object.entries(owners)) {
    const ownerReferences = await Promise.all(
      ownedBy.map(async (owner) => {
        const { metadata } = await client.get({ namespace, name: owner });
        return {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          name: owner,
          uid: metadata?.uid,
          blockOwnerDeletion: true,
        };
      }),
    );
    await client.patch({ namespace, name }, { type: 'merge', body: { metadata: { ownerReferences } } });
  }
}

const circles = [
  { name: 'an object that owns itself', owners: { a: ['a'] } },
  { name: 'two that own each other', owners: { a: ['b'], b: ['a'] } },
  { name: 'three in a cycle', owners: { a: ['c'], b: ['a'], c: ['b'] } },
  { name: 'two cycles that share one', owners: { a: ['b', 'c'], b: ['a'], c: ['a'] } },
  { name: 'a cycle with a tail', owners: { a: ['b'], b: ['a'], c: ['b'], d: ['c'] } },
  { name: 'a diamond, which is not a cycle', owners: { a: [], b: ['a'], c: ['a'], d: ['b', 'c'] } },
] as const;

const policies: readonly DeletionPropagation[] = ['Foreground', 'Background'];

test.each(circles.flatMap((circle) => policies.map((policy) => ({ ...circle, policy }))))(
  '$name are removed, deleted in the $policy',
  async ({ owners, policy }) => {
    await using fixture = await RealTimeCluster.start('garbage-collector');
    const client = fixture.cluster.resource(configMaps);
    await makeOwned(fixture.cluster, owners);
    await client.delete({ namespace, name: 'a' }, { propagationPolicy: policy });
    for (const name of Object.keys(owners)) await untilGone(client, { namespace, name });
  },
);

test('two that were both deleted in the foreground before its start are removed', async () => {
  await using fixture = await RealTimeCluster.start();
  const client = fixture.cluster.resource(configMaps);
  await makeOwned(fixture.cluster, { a: ['b'], b: ['a'] });
  for (const name of ['a', 'b'])
    await client.delete({ namespace, name }, { propagationPolicy: 'Foreground' });
  fixture.run('garbage-collector');
  for (const name of ['a', 'b']) await untilGone(client, { namespace, name });
});

test('an owner continues when a blocked dependent drops blockOwnerDeletion', async () => {
  await using fixture = await RealTimeCluster.start('garbage-collector');
  const client = fixture.cluster.resource(configMaps);
  await makeOwned(fixture.cluster, { parent: [], child: ['parent'] });
  const child = { namespace, name: 'child' };
  await client.patch(child, { type: 'merge', body: { metadata: { finalizers: ['example.com/hold'] } } });
  await client.delete({ namespace, name: 'parent' }, { propagationPolicy: 'Foreground' });
  await untilObject(client, child, ({ metadata }) => metadata?.deletionTimestamp !== undefined);
  const { ownerReferences = [] } = (await client.get(child)).metadata ?? {};
  const released = ownerReferences.map((owner) => ({ ...owner, blockOwnerDeletion: false }));
  await client.patch(child, { type: 'merge', body: { metadata: { ownerReferences: released } } });
  await untilGone(client, { namespace, name: 'parent' });
  expect((await client.get(child)).metadata?.finalizers).toEqual(['example.com/hold']);
});
