import { expect, test } from 'vitest';
import { EmbeddedFixture } from '../cluster/testing/embedded-fixture.ts';
import type { ClusterChange } from '../engine/cluster-index/cluster-change.ts';
import type { PersistentVolume } from '../kube/api/core.ts';
import type { KubeObject } from '../kube/api/meta.ts';
import type { Selection } from '../kube/api-requests.ts';
import type { Resource } from '../kube/resource.ts';
import { csiStorageCapacities, leases, nodes, persistentVolumes } from '../kube/resources.ts';
import { Informer } from '../reconcile/informer/informer.ts';
import { seededRandom } from '../runtime/random.ts';
import { Supervisor } from '../runtime/supervisor.ts';
import { VirtualClock } from '../runtime/virtual-clock.ts';
import { ClusterFeed } from './cluster-feed.ts';

const spec = {
  capacity: { storage: '1Gi' },
  accessModes: ['ReadWriteOnce'],
  hostPath: { path: '/mnt/a' },
} as const;

async function startFeed() {
  const clock = new VirtualClock();
  const { cluster } = await EmbeddedFixture.start(clock);
  const random = seededRandom('feed');
  const supervisor = new Supervisor({ clock, random, onCrash: ({ error }) => expect.fail(String(error)) });
  const source = {
    of<T extends KubeObject>(resource: Resource<T>, selection: Selection = {}): Informer<T> {
      const made = new Informer<T>({ cluster, resource, selection, clock, random });
      made.start(supervisor);
      return made;
    },
  };
  const changes: string[] = [];
  const feed = new ClusterFeed({
    informers: source,
    kinds: ['Node', 'PersistentVolume', 'CSIStorageCapacity'],
    onChange: (change) => changes.push(describeChange(change)),
  });
  const stop = feed.start();
  const client = cluster.resource(persistentVolumes);
  const volume = await client.create({ metadata: { name: 'v' }, spec });
  await clock.advance(10);
  return { clock, cluster, supervisor, feed, changes, client, volume, stop };
}

function describeChange(change: ClusterChange): string {
  if (change.kind === 'Release') return change.kind;
  const { kind, before, after } = change;
  return `${kind} ${(after ?? before)?.key} ${before?.version ?? '-'}->${after?.version ?? '-'}`;
}

function labelled(volume: PersistentVolume, version: string): PersistentVolume {
  return { ...volume, metadata: { ...volume.metadata, resourceVersion: version, labels: { a: version } } };
}

test('the index has the objects of the informers, and changes are reported', async () => {
  const { clock, cluster, supervisor, feed, changes, client, volume } = await startFeed();
  await using _ = supervisor;
  const version = volume.metadata?.resourceVersion;
  await cluster.resource(nodes).create({ metadata: { name: 'n' } });
  await clock.advance(10);
  expect(await feed.synced(new AbortController().signal)).toBe(true);
  expect(feed.index.volumes.get('v')?.version).toBe(version);
  expect(feed.index.nodes.get('n')?.key).toBe('n');
  expect([...feed.values('PersistentVolume')].map(({ metadata }) => metadata?.name)).toEqual(['v']);
  await client.patch({ name: 'v' }, { type: 'merge', body: { metadata: { finalizers: null } } });
  await client.delete({ name: 'v' });
  await clock.advance(10);
  expect(feed.index.volumes.get('v')).toBeUndefined();
  expect(feed.get('PersistentVolume', 'v')).toBeUndefined();
  expect(changes.at(-1)).toMatch(/^PersistentVolume v \d+->-$/);
});

test('a write by the owner is visible at once, and reported once', async () => {
  const { clock, supervisor, feed, changes, client } = await startFeed();
  await using _ = supervisor;
  changes.length = 0;
  const body = { metadata: { labels: { a: 'b' } } };
  const written = await client.patch({ name: 'v' }, { type: 'merge', body });
  feed.recordWrite('PersistentVolume', written);
  expect(feed.index.volumes.get('v')?.labels).toEqual({ a: 'b' });
  expect(feed.get('PersistentVolume', 'v')?.metadata?.labels).toEqual({ a: 'b' });
  await clock.advance(10);
  expect(feed.get('PersistentVolume', 'v')?.metadata?.labels).toEqual({ a: 'b' });
  expect(changes).toHaveLength(1);
});

test('a newer version from the informer replaces a write by the owner', async () => {
  const { clock, supervisor, feed, client, volume } = await startFeed();
  await using _ = supervisor;
  feed.recordWrite('PersistentVolume', labelled(volume, `${volume.metadata?.resourceVersion}`));
  expect(feed.index.volumes.get('v')?.labels).toEqual({});
  await client.patch({ name: 'v' }, { type: 'merge', body: { metadata: { labels: { a: 'new' } } } });
  await clock.advance(10);
  feed.recordWrite('PersistentVolume', labelled(volume, '1'));
  expect(feed.get('PersistentVolume', 'v')?.metadata?.labels).toEqual({ a: 'new' });
  expect(feed.index.volumes.get('v')?.labels).toEqual({ a: 'new' });
});

test('a response that arrives after the object was deleted or recreated does not restore it', async () => {
  const { clock, supervisor, feed, client, volume } = await startFeed();
  await using _ = supervisor;
  await client.patch({ name: 'v' }, { type: 'merge', body: { metadata: { finalizers: null } } });
  await client.delete({ name: 'v' });
  await clock.advance(10);
  feed.recordWrite('PersistentVolume', labelled(volume, '9999'));
  expect(feed.index.volumes.get('v')).toBeUndefined();
  const recreated = await client.create({ metadata: { name: 'v' }, spec });
  await clock.advance(10);
  feed.recordWrite('PersistentVolume', labelled(volume, '9999'));
  expect(feed.index.volumes.get('v')?.uid).toBe(recreated.metadata?.uid);
  expect(feed.get('PersistentVolume', 'v')?.metadata?.uid).toBe(recreated.metadata?.uid);
});

test('a stopped feed receives no more events; a kind that is not in the feed throws', async () => {
  const { clock, supervisor, feed, changes, client, stop } = await startFeed();
  await using _ = supervisor;
  stop();
  changes.length = 0;
  await client.create({ metadata: { name: 'w' }, spec });
  await clock.advance(10);
  expect(changes).toEqual([]);
  expect(() => feed.get('Pod', 'default/p')).toThrow('the feed does not include Pod');
});

test('a pool expires unless its publisher renews its Lease, which is reported as a release', async () => {
  const { clock, cluster, supervisor, feed, changes } = await startFeed();
  await using _ = supervisor;
  await cluster.resource(csiStorageCapacities).create({
    metadata: {
      namespace: 'kube-system',
      name: 'c',
      annotations: { 'stowage.dev/publisher-lease': 'kube-system/stowage-capacity' },
    },
    storageClassName: 'fast',
    nodeTopology: {},
    capacity: '1Gi',
  });
  const client = cluster.resource(leases);
  const key = { namespace: 'kube-system', name: 'stowage-capacity' };
  const spec = { leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:00.000000Z' };
  const labels = { 'stowage.dev/component': 'capacity' };
  await client.create({ metadata: { ...key, labels }, spec });
  await client.create({ metadata: { ...key, name: 'other' }, spec });
  await clock.advance(10);
  const { pools } = feed.index;
  const expiry = () => pools.expiry.atMs[pools.row('CSIStorageCapacity kube-system/c')!]!;
  expect(new Date(expiry()).toISOString()).toBe('2026-01-01T00:11:15.000Z');
  const renewed = { spec: { renewTime: '2026-01-01T00:05:00.000000Z' } };
  await client.patch(key, { type: 'merge', body: renewed });
  await clock.advance(10);
  expect(new Date(expiry()).toISOString()).toBe('2026-01-01T00:16:15.000Z');
  expect(changes.at(-1)).toBe('Release');
  await client.delete(key);
  await clock.advance(10);
  expect(expiry()).toBe(Number.POSITIVE_INFINITY);
});
