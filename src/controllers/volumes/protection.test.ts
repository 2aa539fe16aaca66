import { expect, test } from 'vitest';
import type { PersistentVolumeClaim } from '../../kube/api/core.ts';
import {
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  volumeAttributesClasses,
} from '../../kube/resources.ts';
import { RealTimeCluster, untilGone } from '../testing/real-time-cluster.ts';

const namespace = 'default';
const claim = { namespace, name: 'data' };

async function makeClaim(
  { cluster }: RealTimeCluster,
  more: PersistentVolumeClaim['spec'] = {},
): Promise<void> {
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } as const;
  await cluster.resource(persistentVolumeClaims).create({ metadata: claim, spec: { ...spec, ...more } });
}

async function makePod({ cluster }: RealTimeCluster, nodeName?: string): Promise<void> {
  await cluster.resource(pods).create({
    metadata: { namespace, name: 'web' },
    spec: {
      ...(nodeName === undefined ? {} : { nodeName }),
      containers: [{ name: 'main', image: 'pause' }],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
    },
  });
}

test('an unused claim is removed when it is deleted', async () => {
  await using fixture = await RealTimeCluster.start('protection');
  await makeClaim(fixture);
  const client = fixture.cluster.resource(persistentVolumeClaims);
  await client.delete(claim);
  await untilGone(client, claim);
});

test('a claim of a pod without a node is removed', async () => {
  await using fixture = await RealTimeCluster.start('protection');
  await makeClaim(fixture);
  await makePod(fixture);
  const client = fixture.cluster.resource(persistentVolumeClaims);
  await client.delete(claim);
  await untilGone(client, claim);
});

test('a claim of a placed pod stays until the pod is gone', async () => {
  await using fixture = await RealTimeCluster.start('protection');
  await makeClaim(fixture);
  await makePod(fixture, 'node-1');
  const client = fixture.cluster.resource(persistentVolumeClaims);
  await client.delete(claim);
  // Another claim is removed completely, so the controller has processed this one by then.
  await client.create({ metadata: { namespace, name: 'other' }, spec: (await client.get(claim)).spec ?? {} });
  await client.delete({ namespace, name: 'other' });
  await untilGone(client, { namespace, name: 'other' });
  expect((await client.get(claim)).metadata?.finalizers).toEqual(['kubernetes.io/pvc-protection']);
  await fixture.cluster.resource(pods).delete({ namespace, name: 'web' }, { gracePeriodSeconds: 0 });
  await untilGone(client, claim);
});

test('a claim of an ephemeral volume is removed when its pod is shut down, although a finalizer holds the pod', async () => {
  await using fixture = await RealTimeCluster.start('protection');
  const podKey = { namespace, name: 'web' };
  const claimKey = { namespace, name: 'web-scratch' };
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } as const;
  const client = fixture.cluster.resource(persistentVolumeClaims);
  await fixture.cluster.resource(pods).create({
    metadata: { ...podKey, finalizers: ['foregroundDeletion'] },
    spec: {
      nodeName: 'node-1',
      containers: [{ name: 'main', image: 'pause' }],
      volumes: [{ name: 'scratch', ephemeral: { volumeClaimTemplate: { spec } } }],
    },
  });
  await client.create({ metadata: claimKey, spec });
  await client.delete(claimKey);
  // Another claim is removed completely, so the controller has processed this one by then.
  await makeClaim(fixture);
  await client.delete(claim);
  await untilGone(client, claim);
  expect((await client.get(claimKey)).metadata?.deletionTimestamp).toBeDefined();
  await fixture.cluster.resource(pods).delete(podKey, { gracePeriodSeconds: 0 });
  await untilGone(client, claimKey);
  expect((await fixture.cluster.resource(pods).get(podKey)).metadata?.deletionTimestamp).toBeDefined();
});

test('a volume stays while it is bound', async () => {
  await using fixture = await RealTimeCluster.start('protection');
  const client = fixture.cluster.resource(persistentVolumes);
  const spec = {
    capacity: { storage: '1Gi' },
    accessModes: ['ReadWriteOnce'],
    hostPath: { path: '/mnt/a' },
  } as const;
  const phase = (name: string, value: string) =>
    client.patch({ name }, { type: 'merge', body: { status: { phase: value } } }, { subresource: 'status' });
  for (const name of ['bound', 'free']) await client.create({ metadata: { name }, spec });
  await phase('bound', 'Bound');
  await client.delete({ name: 'bound' });
  await client.delete({ name: 'free' });
  await untilGone(client, { name: 'free' });
  expect((await client.get({ name: 'bound' })).metadata?.deletionTimestamp).toBeDefined();
  await phase('bound', 'Released');
  await untilGone(client, { name: 'bound' });
});

const attributesClass = {
  metadata: { name: 'fast' },
  driverName: 'disk.example.com',
  parameters: { iops: '9' },
};

test('an unused VolumeAttributesClass is removed when it is deleted', async () => {
  await using fixture = await RealTimeCluster.start('protection');
  const client = fixture.cluster.resource(volumeAttributesClasses);
  await client.create(attributesClass);
  await client.delete({ name: 'fast' });
  await untilGone(client, { name: 'fast' });
});

test('a VolumeAttributesClass stays while a claim names it', async () => {
  await using fixture = await RealTimeCluster.start('protection');
  const client = fixture.cluster.resource(volumeAttributesClasses);
  await client.create(attributesClass);
  await client.create({ ...attributesClass, metadata: { name: 'free' } });
  await makeClaim(fixture, { volumeAttributesClassName: 'fast' });
  await client.delete({ name: 'fast' });
  await client.delete({ name: 'free' });
  await untilGone(client, { name: 'free' });
  expect((await client.get({ name: 'fast' })).metadata?.deletionTimestamp).toBeDefined();
  await fixture.cluster.resource(persistentVolumeClaims).delete(claim);
  await untilGone(client, { name: 'fast' });
});
