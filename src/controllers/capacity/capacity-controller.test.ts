import { expect, test } from 'vitest';
import { InProcessDriver } from '../../csi/in-process-driver.ts';
import { JoiningDriverSet } from '../../csi/joining-driver-set.ts';
import { EnforcingDriver } from '../../csi/testing/enforcing-driver.ts';
import {
  csiNodes,
  csiStorageCapacities,
  driverCapacities,
  nodes,
  storageClasses,
} from '../../kube/resources.ts';
import { driverName, gib, PublisherFixture, topologyKey } from './testing/publisher-fixture.ts';

const pools = { n1: 10n * gib, n2: 20n * gib };
const capacities = csiStorageCapacities;
const namespace = 'kube-system';

test('one capacity report per class and segment, as external-provisioner writes it', async () => {
  await using fixture = await PublisherFixture.start({ pools, classes: ['fast', 'slow'] });
  expect(await fixture.published()).toEqual([
    'fast n1: 10Gi',
    'fast n2: 20Gi',
    'slow n1: 10Gi',
    'slow n2: 20Gi',
  ]);
  const { items } = await fixture.cluster.resource(capacities).list();
  const [object] = items.filter(({ storageClassName }) => storageClassName === 'fast');
  expect(object).toMatchObject({
    metadata: {
      namespace,
      name: expect.stringMatching(/^csisc-[0-9a-f]+$/),
      labels: {
        'csi.storage.k8s.io/drivername': 'enforcing.example.com',
        'csi.storage.k8s.io/managed-by': 'stowage',
      },
      annotations: { 'stowage.dev/measured-at': '2025-01-01T00:00:00.000Z' },
    },
    nodeTopology: { matchLabels: { [topologyKey]: expect.stringMatching(/^n[12]$/) } },
  });
});

test('a storage class that uses the driver has its parameters passed to GetCapacity, with the segment', async () => {
  await using fixture = await PublisherFixture.prepare({ pools: { n1: gib }, classes: [] });
  const parameters = { tier: 'hot', 'csi.storage.k8s.io/fstype': 'xfs' };
  await fixture.storageClass('hot', { parameters });
  await fixture.storageClass('foreign', { provisioner: 'other.example.com' });
  await fixture.storageClass('immediate', { volumeBindingMode: 'Immediate' });
  fixture.run();
  await fixture.settle();
  expect(fixture.driver.callsOf('GetCapacity')).toMatchObject([
    { parameters, accessibleTopology: { segments: { [topologyKey]: 'n1' } } },
  ]);
  expect(await fixture.published()).toEqual(['hot n1: 1Gi']);
});

test('--capacity-for-immediate-binding: classes that bind immediately have reports too', async () => {
  const settings = { forImmediateBinding: true };
  await using fixture = await PublisherFixture.prepare({ pools: { n1: gib }, classes: [], settings });
  await fixture.storageClass('immediate', { volumeBindingMode: 'Immediate' });
  fixture.run();
  await fixture.settle();
  expect(await fixture.published()).toEqual(['immediate n1: 1Gi']);
});

test('duplicate topology segments are removed; a node without the label is skipped until it arrives', async () => {
  await using fixture = await PublisherFixture.start({ pools });
  await fixture.node('n3', { [topologyKey]: 'n1' });
  await fixture.node('n4', {});
  await fixture.settle();
  expect(await fixture.published()).toEqual(['fast n1: 10Gi', 'fast n2: 20Gi']);
  fixture.driver.pools.set('late', 5n * gib);
  const body = { metadata: { labels: { [topologyKey]: 'late' } } };
  await fixture.cluster.resource(nodes).patch({ name: 'n4' }, { type: 'merge', body });
  await fixture.settle();
  expect(await fixture.published()).toEqual(['fast late: 5Gi', 'fast n1: 10Gi', 'fast n2: 20Gi']);
});

test('--capacity-topology-prefix restricts the keys of segments', async () => {
  const settings = { topologyPrefix: 'topology.example.com/' };
  await using fixture = await PublisherFixture.prepare({ pools: {}, settings });
  fixture.driver.pools.set('z', gib);
  await fixture.cluster.resource(nodes).create({
    metadata: { name: 'a', labels: { [topologyKey]: 'z', 'example.org/rack': '7' } },
  });
  await fixture.csiNode('a', [topologyKey, 'example.org/rack']);
  fixture.run();
  await fixture.settle();
  expect(await fixture.published()).toEqual(['fast z: 1Gi']);
});

test('segments that the allowedTopologies of a class exclude have no report for it', async () => {
  await using fixture = await PublisherFixture.prepare({ pools, classes: [] });
  const only = (key: string, value: string) => [{ matchLabelExpressions: [{ key, values: [value] }] }];
  await fixture.storageClass('narrow', { allowedTopologies: only(topologyKey, 'n2') });
  await fixture.storageClass('other-key', { allowedTopologies: only('example.org/rack', '7') });
  fixture.run();
  await fixture.settle();
  expect(await fixture.published()).toEqual(['narrow n2: 20Gi', 'other-key n1: 10Gi', 'other-key n2: 20Gi']);
});

test('a driver whose volumes every node reaches has one report for all nodes', async () => {
  await using fixture = await PublisherFixture.prepare({ pools: {} });
  fixture.driver.pools.set('anywhere', 7n * gib);
  await fixture.node('n1', {});
  await fixture.cluster.resource(csiNodes).delete({ name: 'n1' });
  await fixture.csiNode('n1', []);
  fixture.run();
  await fixture.settle();
  expect(await fixture.published()).toEqual(['fast : 7Gi']);
  const { items } = await fixture.cluster.resource(capacities).list();
  expect(items[0]?.nodeTopology).toEqual({});
});

test('the objects of a node that went stay for a minute, and are then removed', async () => {
  await using fixture = await PublisherFixture.start({ pools });
  await fixture.cluster.resource(nodes).delete({ name: 'n1' });
  await fixture.settle(30_000);
  expect(await fixture.published()).toEqual(['fast n1: 10Gi', 'fast n2: 20Gi']);
  await fixture.settle(31_000);
  expect(await fixture.published()).toEqual(['fast n2: 20Gi']);
});

test('a driver that is registered nowhere loses no objects', async () => {
  await using fixture = await PublisherFixture.start({ pools });
  for (const name of ['n1', 'n2']) await fixture.cluster.resource(csiNodes).delete({ name });
  await fixture.settle(600_000);
  expect(await fixture.published()).toEqual(['fast n1: 10Gi', 'fast n2: 20Gi']);
  await fixture.csiNode('n2');
  await fixture.settle(70_000);
  expect(await fixture.published()).toEqual(['fast n2: 20Gi']);
});

test('the objects of a class go with it, and come with a new one', async () => {
  await using fixture = await PublisherFixture.start({ pools: { n1: gib } });
  await fixture.cluster.resource(storageClasses).delete({ name: 'fast' });
  await fixture.settle();
  expect(await fixture.published()).toEqual([]);
  await fixture.storageClass('new');
  await fixture.settle();
  expect(await fixture.published()).toEqual(['new n1: 1Gi']);
});

test('objects of others are neither changed nor deleted', async () => {
  await using fixture = await PublisherFixture.prepare({ pools: { n1: gib } });
  const foreign = (name: string, managedBy: string) => ({
    metadata: {
      namespace,
      name,
      labels: { 'csi.storage.k8s.io/drivername': driverName, 'csi.storage.k8s.io/managed-by': managedBy },
    },
    storageClassName: 'gone',
    nodeTopology: { matchLabels: { [topologyKey]: 'gone' } },
    capacity: '3Gi',
  });
  const client = fixture.cluster.resource(capacities);
  await client.create(foreign('theirs', 'external-provisioner'));
  await client.create({ ...foreign('by-hand', ''), metadata: { namespace, name: 'by-hand' } });
  await client.create(foreign('ours', 'stowage'));
  fixture.run();
  await fixture.settle(120_000);
  const names = (await client.list()).items.map(({ metadata }) => metadata?.name ?? '');
  expect(names.filter((name) => !name.startsWith('csisc-'))).toEqual(['by-hand', 'theirs']);
});

test('an object that another client deleted or changed is written again; a copy is removed', async () => {
  await using fixture = await PublisherFixture.start({ pools: { n1: gib } });
  const client = fixture.cluster.resource(capacities);
  const [object] = (await client.list()).items;
  const name = object?.metadata?.name ?? '';
  await client.patch({ namespace, name }, { type: 'merge', body: { capacity: '99Gi' } });
  await fixture.settle();
  expect(await fixture.published()).toEqual(['fast n1: 1Gi']);
  await client.delete({ namespace, name });
  await fixture.settle();
  expect(await fixture.published()).toEqual(['fast n1: 1Gi']);
  const { labels } = object?.metadata ?? {};
  await client.create({
    metadata: { namespace, name: 'zz-copy', labels: { ...labels } },
    storageClassName: 'fast',
    nodeTopology: { matchLabels: { [topologyKey]: 'n1' } },
    capacity: '50Gi',
  });
  await fixture.settle();
  expect(await fixture.published()).toEqual(['fast n1: 1Gi']);
});

test('classes with the same parameters are marked as using the same disks', async () => {
  await using fixture = await PublisherFixture.prepare({ pools: { n1: gib }, classes: [] });
  await fixture.storageClass('a', { parameters: { tier: '1', 'csi.storage.k8s.io/fstype': 'xfs' } });
  await fixture.storageClass('b', { parameters: { tier: '1' } });
  await fixture.storageClass('c', { parameters: { tier: '2' } });
  fixture.run();
  await fixture.settle();
  const backing = async () => {
    const { items } = await fixture.cluster.resource(capacities).list();
    const labels = items.map(({ storageClassName, metadata }) => [
      storageClassName,
      metadata?.labels?.['stowage.dev/backing-pool'],
    ]);
    return Object.fromEntries(labels) as Record<string, string | undefined>;
  };
  const before = await backing();
  expect(before.a).toMatch(/^[0-9a-f]+$/);
  expect([before.b, before.c]).toEqual([before.a, undefined]);
  await fixture.cluster.resource(storageClasses).delete({ name: 'b' });
  await fixture.settle();
  expect(await backing()).toEqual({ a: undefined, c: undefined });
});

test('a driver that joins later is served, and one without GET_CAPACITY is not', async () => {
  await using fixture = await PublisherFixture.prepare({ pools: { n1: gib } });
  let join: Parameters<typeof fixture.drivers.onJoin>[0] = () => {};
  const csiDrivers = {
    ...fixture.drivers,
    all: () => [],
    onJoin: (listener: typeof join) => {
      join = listener;
      return () => {};
    },
  };
  fixture.run(fixture.cluster, { csiDrivers });
  await fixture.settle();
  expect(await fixture.published()).toEqual([]);
  join({ ...lackingCapacity, name: 'mute.example.com' } as never);
  join(fixture.served);
  await fixture.settle();
  expect(await fixture.published()).toEqual(['fast n1: 1Gi']);
});

const lackingCapacity = { hasControllerCapability: () => false };

test('a driver that joins again is published by a publisher of its own, and the former one is not called any more', async () => {
  await using fixture = await PublisherFixture.prepare({ pools });
  const drivers = new JoiningDriverSet();
  fixture.run(fixture.cluster, { csiDrivers: drivers });
  drivers.join(fixture.served);
  await fixture.settle();
  expect(await fixture.published()).toEqual(['fast n1: 10Gi', 'fast n2: 20Gi']);
  const calls = fixture.driver.callsOf('GetCapacity').length;
  const next = new EnforcingDriver({ pools: { n1: 3n * gib, n2: 4n * gib } });
  drivers.join(await InProcessDriver.connect(next.services(), new AbortController().signal));
  await fixture.settle();
  expect(await fixture.published()).toEqual(['fast n1: 3Gi', 'fast n2: 4Gi']);
  await fixture.settle(600_000);
  expect(fixture.driver.callsOf('GetCapacity').length).toBe(calls);
});

test.each([
  ['CSIStorageCapacity', '10Gi at least 1Gi', '10Gi'],
  ['DriverCapacity', '10Gi at least 1Gi', '10Gi'],
] as const)(
  '%s: the smallest volume is published, and removed when the driver no longer says it',
  async (form, first, then) => {
    await using fixture = await PublisherFixture.prepare({ pools: { n1: 10n * gib }, settings: { form } });
    fixture.driver.changeReply = (method, reply) =>
      method === 'GetCapacity' ? { ...reply, minimumVolumeSize: gib } : reply;
    const published = async () => {
      const [object] = (await fixture.cluster.resource(capacities).list()).items;
      const shards =
        form === 'DriverCapacity' ? (await fixture.cluster.resource(driverCapacities).list()).items : [];
      const pool = shards[0]?.status?.storage?.[0]?.pools?.[0];
      const smallest =
        pool?.minimumVolume ?? object?.metadata?.annotations?.['stowage.dev/minimum-volume-size'];
      const amount = String(pool?.capacity ?? object?.capacity);
      return smallest === undefined ? amount : `${amount} at least ${smallest}`;
    };
    fixture.run();
    await fixture.settle();
    expect(await published()).toBe(first);
    fixture.takeWork();
    await fixture.settle(90_000);
    expect(fixture.takeWork(), 'nothing changed').toBe('1 calls');
    fixture.driver.changeReply = undefined;
    await fixture.settle(120_000);
    expect(await published()).toBe(then);
  },
);
