import { expect, test } from 'vitest';
import { configMaps, namespaces, persistentVolumeClaims, pods } from '../../kube/resources.ts';
import { RealTimeCluster, untilGone, untilObject } from '../testing/real-time-cluster.ts';

async function makeNamespace({ cluster }: RealTimeCluster, name: string): Promise<void> {
  await cluster.resource(namespaces).create({ metadata: { name } });
}

test('a deleted namespace is removed with all its objects', async () => {
  await using fixture = await RealTimeCluster.start('namespace');
  await makeNamespace(fixture, 'doomed');
  const client = fixture.cluster.resource(configMaps);
  for (const name of ['a', 'b', 'c']) await client.create({ metadata: { namespace: 'doomed', name } });
  await client.create({ metadata: { namespace: 'default', name: 'a' } });
  await fixture.cluster.resource(namespaces).delete({ name: 'doomed' });
  await untilGone(fixture.cluster.resource(namespaces), { name: 'doomed' });
  expect((await client.list({ namespace: 'doomed' })).items).toEqual([]);
  expect((await client.list({ namespace: 'default' })).items).toHaveLength(1);
});

test('it waits for objects with finalizers, reports them, and continues when they are gone', async () => {
  await using fixture = await RealTimeCluster.start('namespace');
  await makeNamespace(fixture, 'doomed');
  const client = fixture.cluster.resource(configMaps);
  const key = { namespace: 'doomed', name: 'held' };
  await client.create({ metadata: { ...key, finalizers: ['example.com/hold'] } });
  await fixture.cluster.resource(namespaces).delete({ name: 'doomed' });
  await untilObject(fixture.cluster.resource(namespaces), { name: 'doomed' }, ({ status }) =>
    (status?.conditions ?? []).some(
      ({ type, status: is, message }) =>
        type === 'NamespaceFinalizersRemaining' &&
        is === 'True' &&
        message ===
          'Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances',
    ),
  );
  await client.patch(key, { type: 'merge', body: { metadata: { finalizers: null } } });
  await untilGone(fixture.cluster.resource(namespaces), { name: 'doomed' });
});

test('with protection running, claims and their pods are removed too', async () => {
  await using fixture = await RealTimeCluster.start('namespace', 'protection');
  await makeNamespace(fixture, 'doomed');
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } as const;
  await fixture.cluster
    .resource(persistentVolumeClaims)
    .create({ metadata: { namespace: 'doomed', name: 'data' }, spec });
  await fixture.cluster.resource(pods).create({
    metadata: { namespace: 'doomed', name: 'web' },
    spec: {
      containers: [{ name: 'main', image: 'pause' }],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
    },
  });
  await fixture.cluster.resource(namespaces).delete({ name: 'doomed' });
  await untilGone(fixture.cluster.resource(namespaces), { name: 'doomed' });
});

test('a namespace that was deleted before its start is found', async () => {
  await using fixture = await RealTimeCluster.start();
  await makeNamespace(fixture, 'early');
  await fixture.cluster.resource(namespaces).delete({ name: 'early' });
  fixture.run('namespace');
  await untilGone(fixture.cluster.resource(namespaces), { name: 'early' });
});

test('objects that a pod may depend on stay until the pod is gone', async () => {
  await using fixture = await RealTimeCluster.start('namespace');
  await makeNamespace(fixture, 'doomed');
  const client = fixture.cluster.resource(configMaps);
  const key = { namespace: 'doomed', name: 'web' };
  await client.create({ metadata: key });
  const spec = { nodeName: 'n1', containers: [{ name: 'main', image: 'pause' }] };
  await fixture.cluster.resource(pods).create({ metadata: key, spec });
  await fixture.cluster.resource(namespaces).delete({ name: 'doomed' });
  await untilObject(fixture.cluster.resource(namespaces), { name: 'doomed' }, ({ status }) =>
    (status?.conditions ?? []).some(
      ({ type, message }) =>
        type === 'NamespaceContentRemaining' &&
        message === 'Some resources are remaining: pods. has 1 resource instances',
    ),
  );
  expect((await client.get(key)).metadata?.deletionTimestamp).toBeUndefined();
  await fixture.cluster.resource(pods).delete(key, { gracePeriodSeconds: 0 });
  await untilGone(fixture.cluster.resource(namespaces), { name: 'doomed' });
});
