import { expect, test } from 'vitest';
import { csiDrivers, csiNodes, driverCapacities, storageClasses } from '../../kube/resources.ts';
import { driverName, gib, PublisherFixture, topologyKey } from './testing/publisher-fixture.ts';

const pools = { n1: 10n * gib, n2: 20n * gib };
const form = { form: 'DriverCapacity' } as const;
const patch = 'patch drivercapacities';

test('--capacity-form DriverCapacity: an object for each segment, with an entry for each class', async () => {
  await using fixture = await PublisherFixture.prepare({ pools, classes: ['fast', 'slow'], settings: form });
  await fixture.csiDriver();
  fixture.run();
  await fixture.settle();
  expect(await fixture.published()).toEqual([]);
  expect(await fixture.pools()).toEqual([
    'fast topology.example.com/node=n1: 10Gi',
    'fast topology.example.com/node=n2: 20Gi',
    'slow topology.example.com/node=n1: 10Gi',
    'slow topology.example.com/node=n2: 20Gi',
  ]);
  const { items } = await fixture.cluster.resource(driverCapacities).list();
  expect(items).toHaveLength(2);
  expect(items[0]).toMatchObject({
    metadata: {
      name: expect.stringMatching(/^enforcing\.example\.com-[0-9a-f]+$/),
      labels: { 'csi.storage.k8s.io/managed-by': 'stowage' },
      ownerReferences: [{ kind: 'CSIDriver', name: driverName }],
    },
    spec: { driver: driverName, capacityTracking: true },
    status: {
      storage: [
        {
          pools: [
            {
              measuredAt: '2025-01-01T00:00:00.500Z',
              expiryTime: '2025-01-01T00:10:00Z',
              nodeTopology: {
                nodeSelectorTerms: [{ matchExpressions: [{ key: topologyKey, operator: 'In' }] }],
              },
            },
          ],
        },
        {},
      ],
    },
  });
});

test('an update costs what changed: one call and one write of one small object', async () => {
  await using fixture = await PublisherFixture.start({ pools, settings: form });
  await fixture.settle(5_000);
  fixture.takeWork();
  await fixture.provision('a', 'n1', gib);
  await fixture.settle(10_000);
  expect(fixture.takeWork()).toBe(`1 calls, ${patch}`);
  expect((await fixture.pools())[0]).toBe('fast topology.example.com/node=n1: 9Gi');
});

test('an expiry is renewed when less than half of the lifetime is left, with a new measurement', async () => {
  await using fixture = await PublisherFixture.start({ pools: { n1: gib }, settings: form });
  fixture.takeWork();
  await fixture.settle(200_000);
  expect(fixture.writes).toEqual([]);
  // Polls have a jitter, so the time of the first one in the second half varies.
  await fixture.settle(300_000);
  expect(new Set(fixture.writes)).toEqual(new Set([patch]));
});

test('removing obsolete information: classes, segments, and with the CSIDriver everything', async () => {
  await using fixture = await PublisherFixture.prepare({ pools, classes: ['fast', 'slow'], settings: form });
  await fixture.csiDriver();
  fixture.run();
  await fixture.settle();
  await fixture.cluster.resource(storageClasses).delete({ name: 'slow' });
  await fixture.settle(5_000);
  expect(await fixture.pools()).toEqual([
    'fast topology.example.com/node=n1: 10Gi',
    'fast topology.example.com/node=n2: 20Gi',
  ]);
  await fixture.cluster.resource(csiNodes).delete({ name: 'n1' });
  await fixture.settle(70_000);
  expect(await fixture.pools()).toEqual(['fast topology.example.com/node=n2: 20Gi']);
  expect((await fixture.cluster.resource(driverCapacities).list()).items).toHaveLength(1);
  await fixture.cluster.resource(csiDrivers).delete({ name: driverName });
});

test('a DriverCapacity without our labels is neither changed nor deleted', async () => {
  await using fixture = await PublisherFixture.prepare({ pools: { n1: gib }, settings: form });
  const client = fixture.cluster.resource(driverCapacities);
  const spec = { capacityTracking: true };
  await client.create({ metadata: { name: driverName }, spec });
  fixture.run();
  await fixture.settle(120_000);
  const theirs = await client.get({ name: driverName });
  expect([theirs.spec, theirs.status, theirs.metadata?.labels]).toEqual([spec, undefined, undefined]);
});

test('after a change of the form, the objects of the other form are removed', async () => {
  await using fixture = await PublisherFixture.start({ pools: { n1: gib }, ownKinds: true });
  await fixture.stop();
  const csi = { timeoutMs: 10_000, capacity: form };
  fixture.run(fixture.cluster, { csi });
  await fixture.settle();
  expect([await fixture.published(), await fixture.pools()]).toEqual([
    [],
    ['fast topology.example.com/node=n1: 1Gi'],
  ]);
  await fixture.stop();
  fixture.run();
  await fixture.settle();
  expect([await fixture.published(), await fixture.pools()]).toEqual([['fast n1: 1Gi'], []]);
});

test('another class of the driver with other parameters has a pool of another name', async () => {
  await using fixture = await PublisherFixture.prepare({ pools: { n1: gib }, settings: form });
  await fixture.storageClass('mirrored', { parameters: { mirrored: 'yes' } });
  fixture.run();
  await fixture.settle();
  expect(await fixture.pools()).toEqual([
    'fast topology.example.com/node=n1: 1Gi',
    expect.stringMatching(/^mirrored topology\.example\.com\/node=n1#[0-9a-f]+: 1Gi$/),
  ]);
});

test('--capacity-for-ephemeral: the same without parameters, stored under <ephemeral>, whatever the form is', async () => {
  await using fixture = await PublisherFixture.start({ pools, settings: { forEphemeral: true } });
  expect(await fixture.published()).toEqual(['fast n1: 10Gi', 'fast n2: 20Gi']);
  expect(await fixture.pools()).toEqual([
    '<ephemeral> topology.example.com/node=n1: 10Gi',
    '<ephemeral> topology.example.com/node=n2: 20Gi',
  ]);
  await fixture.stop();
  fixture.run(fixture.cluster, { csi: { timeoutMs: 10_000 } });
  await fixture.settle();
  expect(await fixture.pools()).toEqual([]);
});
