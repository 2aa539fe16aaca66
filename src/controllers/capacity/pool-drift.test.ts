import { expect, test } from 'vitest';
import { CsiStatusError } from '../../csi/csi-errors.ts';
import { csiStorageCapacities, persistentVolumeClaims } from '../../kube/resources.ts';
import { type DriftRecord, parseDriftRecord } from '../../kube/stowage/drift-record.ts';
import { annotations } from '../../kube/well-known.ts';
import { driverName, gib, PublisherFixture } from './testing/publisher-fixture.ts';

async function recordOf(fixture: PublisherFixture): Promise<DriftRecord | undefined> {
  const { items } = await fixture.cluster.resource(csiStorageCapacities).list();
  return parseDriftRecord(items[0]?.metadata?.annotations?.[annotations.drift]);
}

async function drift(fixture: PublisherFixture): Promise<string> {
  const record = await recordOf(fixture);
  return `${record?.kind} ${record?.difference}`;
}

/** A driver that lists nothing. */
const unlisted = { controllerCapabilities: ['CREATE_DELETE_VOLUME', 'GET_CAPACITY'] as const };

test('a volume that was made behind our back is foreign use, by name; without it the drift ends', async () => {
  await using fixture = await PublisherFixture.start({ pools: { n1: 100n * gib } });
  await fixture.provision('a', 'n1', 10n * gib);
  await fixture.settle(130_000);
  expect(await drift(fixture)).toBe('none 0');
  fixture.driver.addVolume('theirs', 'n1', 30n * gib);
  await fixture.settle(130_000);
  expect(await drift(fixture)).toBe('foreign-use -30Gi');
  expect((await recordOf(fixture))?.listed).toMatchObject({
    foreign: { count: 1, storage: '30Gi', volumes: [{ id: 'theirs', storage: '30Gi' }] },
    leaked: { count: 0 },
    lost: { count: 0 },
    shrunk: '0',
  });
  const rendered = fixture.environment.metrics.render();
  expect(rendered).toContain(
    `stowage_capacity_unknown_volume_bytes{driver_name="enforcing.example.com",kind="foreign"} ${30n * gib}`,
  );
  fixture.driver.volumes.delete('theirs');
  await fixture.settle(130_000);
  expect(await drift(fixture)).toBe('none 0');
});

test('a pool that has less, while the driver lists the same volumes, has shrunk', async () => {
  await using fixture = await PublisherFixture.start({ pools: { n1: 100n * gib } });
  fixture.driver.addVolume('theirs', 'n1', 10n * gib);
  await fixture.provision('a', 'n1', 10n * gib);
  await fixture.settle(130_000);
  fixture.driver.pools.set('n1', 60n * gib);
  await fixture.settle(130_000);
  const record = await recordOf(fixture);
  expect(record).toMatchObject({ kind: 'shrunk', listed: { shrunk: '40Gi', foreign: { storage: '10Gi' } } });
  await fixture.provision('b', 'n1', 5n * gib);
  await fixture.settle(130_000);
  expect(await recordOf(fixture), 'it stays so').toMatchObject({ kind: 'shrunk', since: record?.since });
});

test('a shrunk pool and foreign volumes at once are distinguished', async () => {
  await using fixture = await PublisherFixture.start({ pools: { n1: 100n * gib } });
  await fixture.settle(130_000);
  fixture.driver.pools.set('n1', 60n * gib);
  fixture.driver.addVolume('theirs', 'n1', 15n * gib);
  await fixture.settle(130_000);
  expect(await recordOf(fixture)).toMatchObject({
    difference: '-55Gi',
    listed: { shrunk: '40Gi', foreign: { storage: '15Gi' } },
  });
});

test('a volume that the driver does not list any more is lost', async () => {
  await using fixture = await PublisherFixture.start({ pools: { n1: 100n * gib } });
  await fixture.provision('a', 'n1', 10n * gib);
  await fixture.settle(130_000);
  fixture.driver.volumes.delete('id-a');
  await fixture.settle(130_000);
  expect(await recordOf(fixture)).toMatchObject({
    kind: 'lost',
    listed: { lost: { count: 1, volumes: [{ id: 'a', storage: '10Gi' }] }, shrunk: '0' },
  });
});

test('a volume of which the PersistentVolume is gone is leaked, also for the next process', async () => {
  await using fixture = await PublisherFixture.start({ pools: { n1: 100n * gib } });
  await fixture.provision('a', 'n1', 10n * gib);
  await fixture.settle(130_000);
  await fixture.unprovision('a');
  fixture.driver.addVolume('id-a', 'n1', 10n * gib);
  await fixture.settle(130_000);
  const leaked = { leaked: { count: 1, volumes: [{ id: 'id-a', storage: '10Gi' }] }, foreign: { count: 0 } };
  expect(await recordOf(fixture)).toMatchObject({ kind: 'leak', listed: leaked });
  await fixture.stop();
  fixture.run();
  fixture.driver.addVolume('theirs', 'n1', 1n * gib);
  await fixture.settle(130_000);
  expect(await recordOf(fixture)).toMatchObject({
    kind: 'leak',
    listed: { ...leaked, foreign: { count: 1 } },
  });
});

test('a volume with the name of one of ours, and without a claim, is leaked', async () => {
  await using fixture = await PublisherFixture.start({ pools: { n1: 100n * gib } });
  await fixture.settle(130_000);
  const id = 'vol:pvc-0c1d2e3f-0000-4000-8000-000000000001';
  fixture.driver.addVolume(id, 'n1', 10n * gib);
  await fixture.settle(130_000);
  expect(await recordOf(fixture)).toMatchObject({ kind: 'leak', listed: { leaked: { volumes: [{ id }] } } });
});

test('a volume that is being created is not foreign', async () => {
  await using fixture = await PublisherFixture.start({ pools: { n1: 100n * gib } });
  await fixture.cluster.resource(persistentVolumeClaims).create({
    metadata: {
      namespace: 'default',
      name: 'c',
      annotations: { [annotations.storageProvisioner]: driverName, [annotations.selectedNode]: 'n1' },
    },
    spec: {
      storageClassName: 'fast',
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '10Gi' } },
    },
  });
  fixture.driver.addVolume('opaque', 'n1', 10n * gib);
  await fixture.settle(130_000);
  expect(await drift(fixture)).toBe('none 0');
});

test('one list serves all capacity reports, page by page; a driver whose list fails is asked less often', async () => {
  const pools = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`n${at}`, 100n * gib]));
  await using fixture = await PublisherFixture.start({ pools, driver: { listPage: 2 } });
  for (const id of ['v1', 'v2', 'v3']) fixture.driver.addVolume(id, 'n1', gib);
  await fixture.settle(60_000);
  fixture.takeWork();
  await fixture.settle(600_000);
  const lists = fixture.driver.callsOf('ListVolumes').length;
  expect(lists).toBeGreaterThan(10);
  expect(lists, 'two pages in a minute').toBeLessThan(40);
  fixture.driver.beforeCall = (method) => {
    if (method === 'ListVolumes') throw new CsiStatusError('Internal', 'broken');
  };
  fixture.takeWork();
  await fixture.settle(600_000);
  expect(fixture.driver.callsOf('ListVolumes').length).toBeLessThan(5);
  expect(fixture.driver.callsOf('GetCapacity').length).toBeGreaterThan(150);
  expect(fixture.environment.metrics.render()).toMatch(/stowage_capacity_list_failures_total\{.*\} [1-4]\n/);
});

test('without a list, a pool that has less looks like foreign use', async () => {
  await using fixture = await PublisherFixture.start({ pools: { n1: 100n * gib }, driver: unlisted });
  expect(await drift(fixture)).toBe('none 0');
  await fixture.provision('a', 'n1', 10n * gib);
  await fixture.settle(130_000);
  expect(await drift(fixture)).toBe('none 0');
  fixture.driver.pools.set('n1', 70n * gib);
  await fixture.settle(130_000);
  expect(await drift(fixture)).toBe('foreign-use -30Gi');
  const rendered = fixture.environment.metrics.render();
  expect(rendered).toContain(
    `stowage_capacity_drift_bytes{driver_name="enforcing.example.com",kind="foreign-use"} ${30n * gib}`,
  );
  expect(rendered).toMatch(/stowage_capacity_drifts_total\{.*kind="foreign-use"\} 1/);
  fixture.driver.pools.set('n1', 100n * gib);
  await fixture.settle(130_000);
  expect(await drift(fixture)).toBe('none 0');
});

test('a volume that was deleted, and whose bytes did not become free, is a leak', async () => {
  await using fixture = await PublisherFixture.start({ pools: { n1: 100n * gib }, driver: unlisted });
  await fixture.provision('a', 'n1', 10n * gib);
  await fixture.settle(130_000);
  fixture.driver.pools.set('n1', 90n * gib);
  await fixture.unprovision('a');
  await fixture.settle(130_000);
  expect(await drift(fixture)).toBe('leak -10Gi');
});

test('while nothing changes, nothing is written', async () => {
  await using fixture = await PublisherFixture.start({ pools: { n1: 100n * gib } });
  await fixture.provision('a', 'n1', 10n * gib);
  await fixture.settle(130_000);
  fixture.takeWork();
  await fixture.settle(600_000);
  expect(fixture.writes).toEqual([]);
});
