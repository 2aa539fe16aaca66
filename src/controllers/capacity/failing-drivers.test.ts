import { expect, test } from 'vitest';
import { CsiDriverNameError, CsiStatusError } from '../../csi/csi-errors.ts';
import type { ServedCsiDriver } from '../../csi/served-driver.ts';
import { csiStorageCapacities, driverCapacities } from '../../kube/resources.ts';
import { gib, PublisherFixture } from './testing/publisher-fixture.ts';

const pools = { n1: 10n * gib };

async function metric(fixture: PublisherFixture, name: string): Promise<string> {
  const lines = fixture.environment.metrics.render().split('\n');
  return lines.filter((line) => line.startsWith(name)).join('\n');
}

test('a failed call deletes and changes nothing, is retried with back-off, and is reported once', async () => {
  await using fixture = await PublisherFixture.start({ pools });
  fixture.takeWork();
  fixture.driver.beforeCall = () => {
    throw new CsiStatusError('Internal', 'the disks do not answer');
  };
  await fixture.settle(600_000);
  expect(await fixture.published()).toEqual(['fast n1: 10Gi']);
  expect(fixture.writes).toEqual([]);
  // After one poll interval, then 1, 2, 4 ... 256, and 300 seconds later.
  expect(fixture.driver.callsOf('GetCapacity').length).toBe(10);
  expect(fixture.warnings).toEqual([
    'no new capacity report for class fast in topology.example.com/node=n1; the published one stays: CSI driver enforcing.example.com: GetCapacity: Internal: the disks do not answer',
  ]);
  expect(await metric(fixture, 'stowage_capacity_failures_total')).toContain('reason="Internal"} 10');
  expect(await metric(fixture, 'stowage_capacity_failing_figures')).toMatch(/ 1$/);
  expect(await metric(fixture, 'stowage_capacity_figure_age_seconds')).toMatch(/ 600\.5$/);
  expect(await fixture.environment.eventLines()).toEqual([
    'CapacityNotUpdated fast: The published capacity of enforcing.example.com is not up to date: CSI driver enforcing.example.com: GetCapacity: Internal: the disks do not answer',
  ]);
  fixture.driver.beforeCall = undefined;
  fixture.driver.pools.set('n1', 4n * gib);
  await fixture.settle(300_000);
  expect(await fixture.published()).toEqual(['fast n1: 4Gi']);
  expect(await metric(fixture, 'stowage_capacity_failing_figures')).toMatch(/ 0$/);
});

test('a driver that hangs gets another call after its deadline, and the capacity reports of other drivers are not delayed', async () => {
  await using fixture = await PublisherFixture.start({ pools });
  fixture.driver.beforeCall = () => new Promise(() => {});
  fixture.driver.pools.set('n1', gib);
  await fixture.settle(80_000);
  expect(await fixture.published()).toEqual(['fast n1: 10Gi']);
  expect(fixture.warnings.join()).toContain('did not answer within 10 s');
  fixture.driver.beforeCall = undefined;
  await fixture.settle(30_000);
  expect(await fixture.published()).toEqual(['fast n1: 1Gi']);
});

test('a negative capacity is refused, the largest possible and zero are published', async () => {
  await using fixture = await PublisherFixture.start({ pools });
  fixture.driver.pools.set('n1', -1n);
  await fixture.settle(67_000);
  expect(await fixture.published()).toEqual(['fast n1: 10Gi']);
  expect(fixture.warnings.join()).toContain('available_capacity');
  fixture.driver.pools.set('n1', 2n ** 63n - 1n);
  await fixture.settle(67_000);
  expect(await fixture.published()).toEqual([`fast n1: ${2n ** 63n - 1n}`]);
  fixture.driver.pools.set('n1', 0n);
  await fixture.settle(67_000);
  expect(await fixture.published()).toEqual(['fast n1: 0']);
});

test('writes that fail are repeated, and conflicts of versions are not reported', async () => {
  await using fixture = await PublisherFixture.start({ pools });
  const client = fixture.cluster.resource(csiStorageCapacities);
  const { items } = await client.list();
  const { name = '', namespace } = items[0]?.metadata ?? {};
  fixture.driver.pools.set('n1', gib);
  fixture.driver.beforeCall = async () => {
    fixture.driver.beforeCall = undefined;
    const body = { metadata: { annotations: { other: 'writer' } } };
    await client.patch({ namespace, name }, { type: 'merge', body });
  };
  await fixture.settle(70_000);
  expect(await fixture.published()).toEqual(['fast n1: 1Gi']);
  expect(fixture.warnings).toEqual([]);
});

test('reports of a publisher that died, or whose driver does not answer, expire; the condition Fresh says why', async () => {
  await using fixture = await PublisherFixture.start({ pools, settings: { form: 'DriverCapacity' } });
  const shard = async () => (await fixture.cluster.resource(driverCapacities).list()).items[0];
  const expiryMs = async () =>
    Date.parse((await shard())?.status?.storage?.[0]?.pools?.[0]?.expiryTime ?? '');
  fixture.driver.beforeCall = () => {
    throw new CsiStatusError('Unavailable', 'restarting');
  };
  await fixture.settle(700_000);
  expect(await expiryMs()).toBeLessThan(fixture.environment.clock.nowMs());
  expect((await shard())?.status?.conditions).toMatchObject([
    { type: 'Fresh', status: 'False', message: expect.stringContaining('restarting') },
  ]);
  fixture.driver.beforeCall = undefined;
  await fixture.settle(301_000);
  expect(await expiryMs()).toBeGreaterThan(fixture.environment.clock.nowMs());
  expect((await shard())?.status?.conditions).toMatchObject([{ type: 'Fresh', status: 'True' }]);
});

test('a driver that changes its name while it is published gets no call: the reports stay, and both names are reported', async () => {
  await using fixture = await PublisherFixture.prepare({ pools });
  const { served } = fixture;
  let name: string | undefined;
  const renamed: ServedCsiDriver = {
    name: served.name,
    hasTopology: served.hasTopology,
    hasPluginCapability: (capability) => served.hasPluginCapability(capability),
    hasControllerCapability: (capability) => served.hasControllerCapability(capability),
    hasNodeCapability: (capability) => served.hasNodeCapability(capability),
    onCallEnd: (listener) => served.onCallEnd(listener),
    // Acts as a connection does when another driver answers at its address.
    call: async (...args) => {
      if (name !== undefined) throw new CsiDriverNameError('unix:///csi.sock', served.name, name);
      return await served.call(...args);
    },
  };
  const csiDrivers = { get: () => renamed, all: () => [renamed], onJoin: () => () => {} };
  fixture.run(fixture.cluster, { csiDrivers });
  await fixture.settle();
  expect(await fixture.published()).toEqual(['fast n1: 10Gi']);
  fixture.takeWork();
  name = 'other.example.com';
  fixture.driver.pools.set('n1', gib);
  await fixture.settle(600_000);
  expect(await fixture.published()).toEqual(['fast n1: 10Gi']);
  expect(fixture.takeWork()).toBe('0 calls');
  const [line = ''] = await fixture.environment.eventLines();
  expect(line).toMatch(/^CapacityNotUpdated fast: .*enforcing\.example\.com.*other\.example\.com/);
  name = undefined;
  await fixture.settle(300_000);
  expect(await fixture.published()).toEqual(['fast n1: 1Gi']);
});
