import { expect, test } from 'vitest';
import { csiNodes, csiStorageCapacities, driverCapacities, nodes, pods } from '../../kube/resources.ts';
import { annotations } from '../../kube/well-known.ts';
import { driverName, gib, PublisherFixture, topologyKey } from './testing/publisher-fixture.ts';

const pools = { n1: 10n * gib, n2: 20n * gib };
const ephemeralOnly = { volumeLifecycleModes: ['Ephemeral'], podInfoOnMount: true };

test('one publisher a node: its segment comes from NodeGetInfo, and it writes its own objects only', async () => {
  await using fixture = await PublisherFixture.prepare({ pools, nodeName: 'n1', driver: { nodeId: 'n1' } });
  const theirs = {
    metadata: {
      namespace: 'kube-system',
      name: 'theirs',
      labels: {
        'csi.storage.k8s.io/drivername': driverName,
        'csi.storage.k8s.io/managed-by': 'stowage-n2',
      },
    },
    storageClassName: 'fast',
    nodeTopology: { matchLabels: { [topologyKey]: 'n2' } },
    capacity: '5Gi',
  };
  await fixture.cluster.resource(csiStorageCapacities).create(theirs);
  fixture.run();
  await fixture.settle(120_000);
  expect(await fixture.published()).toEqual(['fast n1: 10Gi', 'fast n2: 5Gi']);
  const { items } = await fixture.cluster.resource(csiStorageCapacities).list();
  const ours = items.find(({ capacity }) => capacity === '10Gi');
  expect(ours?.metadata?.labels?.['csi.storage.k8s.io/managed-by']).toBe('stowage-n1');
});

test('managed-by of a node with a long name is shortened with a hash', async () => {
  const long = `node-${'x'.repeat(70)}`;
  await using fixture = await PublisherFixture.start({
    pools: { short: gib },
    nodeName: long,
    driver: { nodeId: 'short' },
  });
  const { items } = await fixture.cluster.resource(csiStorageCapacities).list();
  const [value = ''] = items.map(({ metadata }) => metadata?.labels?.['csi.storage.k8s.io/managed-by']);
  expect(value).toMatch(/^stowage-node-x+-[0-9a-f]{12}$/);
  expect(value.length).toBe(63);
});

test('only inline volumes: a single CSIStorage with one pool per node, and an empty GetCapacityRequest', async () => {
  await using fixture = await PublisherFixture.prepare({
    pools: { n1: 10n * gib },
    nodeName: 'n1',
    driver: { nodeId: 'n1' },
    ownKinds: true,
  });
  await fixture.csiDriver(ephemeralOnly);
  fixture.run();
  await fixture.settle();
  expect(await fixture.published()).toEqual([]);
  expect(await fixture.pools()).toEqual(['<ephemeral> n1: 10Gi on n1']);
  const [request] = fixture.driver.callsOf('GetCapacity');
  expect(request).toMatchObject({ parameters: {}, volumeCapabilities: [] });
  expect(request).not.toHaveProperty('accessibleTopology');
  const { items } = await fixture.cluster.resource(driverCapacities).list();
  expect(items[0]?.metadata?.name).toBe(`${driverName}-n1`);
});

test('measured-at advances after the kubelet has mounted an inline volume', async () => {
  await using fixture = await PublisherFixture.prepare({
    pools: { n1: 10n * gib },
    nodeName: 'n1',
    driver: { nodeId: 'n1' },
    ownKinds: true,
  });
  await fixture.csiDriver(ephemeralOnly);
  fixture.run();
  await fixture.settle(5_000);
  fixture.takeWork();
  const volume = {
    name: 'scratch',
    csi: { driver: driverName, volumeAttributes: { 'csi.storage.k8s.io/size': '1Gi' } },
  };
  const client = fixture.cluster.resource(pods);
  await client.create({
    metadata: { namespace: 'default', name: 'redis' },
    spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }], volumes: [volume] },
  });
  await fixture.settle(5_000);
  expect(fixture.takeWork()).toBe('0 calls');
  fixture.driver.pools.set('n1', 9n * gib);
  const now = new Date(fixture.environment.clock.nowMs()).toISOString();
  const running = { name: 'c', state: { running: { startedAt: now } }, ready: true, restartCount: 0 };
  const status = {
    phase: 'Running',
    containerStatuses: [{ ...running, image: 'i', imageID: 'i' }],
  };
  await client.patch(
    { namespace: 'default', name: 'redis' },
    { type: 'merge', body: { status } },
    { subresource: 'status' },
  );
  await fixture.settle(10_000);
  expect(fixture.takeWork()).toBe('1 calls, patch drivercapacities');
  expect(await fixture.pools()).toEqual(['<ephemeral> n1: 9Gi on n1']);
});

test('NodeGetInfo is repeated until the driver answers', async () => {
  await using fixture = await PublisherFixture.prepare({
    pools: { n1: gib },
    nodeName: 'n1',
    driver: { nodeId: 'n1' },
  });
  let isUp = false;
  fixture.driver.beforeCall = () => {
    if (!isUp) throw new Error('starting');
  };
  fixture.run();
  await fixture.settle(10_000);
  expect(await fixture.published()).toEqual([]);
  isUp = true;
  await fixture.settle(60_000);
  expect(await fixture.published()).toEqual(['fast n1: 1Gi']);
});

test('objects of a deleted node are removed by another publisher, once Node and CSINode have been gone for a while', async () => {
  await using fixture = await PublisherFixture.prepare({ pools, nodeName: 'n1', driver: { nodeId: 'n1' } });
  const orphan = (name: string, managedBy: string, node: string) => ({
    metadata: {
      namespace: 'kube-system',
      name,
      labels: { 'csi.storage.k8s.io/drivername': driverName, 'csi.storage.k8s.io/managed-by': managedBy },
      annotations: { [annotations.publisherNode]: node },
    },
    storageClassName: 'fast',
    nodeTopology: { matchLabels: { [topologyKey]: node } },
    capacity: '5Gi',
  });
  const client = fixture.cluster.resource(csiStorageCapacities);
  await client.create(orphan('of-n2', 'stowage-n2', 'n2'));
  await client.create(orphan('of-n9', 'stowage-n9', 'n9'));
  await client.create(orphan('foreign-of-n9', 'external-provisioner-n9', 'n9'));
  fixture.run();
  const names = async () => (await client.list()).items.map(({ metadata }) => metadata?.name ?? '').sort();
  await fixture.settle(200_000);
  expect(await names()).toContain('of-n9');
  await fixture.settle(3_600_000);
  expect((await names()).slice(1)).toEqual(['foreign-of-n9', 'of-n2']);
  await fixture.cluster.resource(nodes).delete({ name: 'n2' });
  await fixture.settle(3_600_000);
  expect((await names()).slice(1)).toEqual(['foreign-of-n9', 'of-n2']);
  await fixture.cluster.resource(csiNodes).delete({ name: 'n2' });
  await fixture.settle(7_200_000);
  expect((await names()).slice(1)).toEqual(['foreign-of-n9']);
});
