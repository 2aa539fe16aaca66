import { expect, test } from 'vitest';
import { parseDriftRecord } from '../../kube/drift-record.ts';
import { csiStorageCapacities } from '../../kube/resources.ts';
import { annotations } from '../../kube/well-known.ts';
import { gib, PublisherFixture } from './testing/publisher-fixture.ts';

async function drift(fixture: PublisherFixture): Promise<string> {
  const { items } = await fixture.cluster.resource(csiStorageCapacities).list();
  const record = parseDriftRecord(items[0]?.metadata?.annotations?.[annotations.drift]);
  return `${record?.kind} ${record?.difference}`;
}

test('a volume that was made behind our back is foreign use; without it the drift ends', async () => {
  await using fixture = await PublisherFixture.start({ pools: { n1: 100n * gib } });
  expect(await drift(fixture)).toBe('none 0');
  await fixture.provision('a', 'n1', 10n * gib);
  await fixture.settle(65_000);
  expect(await drift(fixture)).toBe('none 0');
  fixture.driver.pools.set('n1', 70n * gib);
  await fixture.settle(65_000);
  expect(await drift(fixture)).toBe('foreign-use -30Gi');
  const rendered = fixture.environment.metrics.render();
  expect(rendered).toContain(
    `stowage_capacity_drift_bytes{driver_name="enforcing.example.com",kind="foreign-use"} ${30n * gib}`,
  );
  expect(rendered).toMatch(/stowage_capacity_drifts_total\{.*kind="foreign-use"\} 1/);
  fixture.driver.pools.set('n1', 100n * gib);
  await fixture.settle(65_000);
  expect(await drift(fixture)).toBe('none 0');
});

test('a volume that was deleted, and whose bytes did not become free, is a leak', async () => {
  await using fixture = await PublisherFixture.start({ pools: { n1: 100n * gib } });
  await fixture.provision('a', 'n1', 10n * gib);
  await fixture.settle(65_000);
  fixture.driver.pools.set('n1', 90n * gib);
  await fixture.unprovision('a');
  await fixture.settle(65_000);
  expect(await drift(fixture)).toBe('leak -10Gi');
});

test('while nothing changes, nothing is written', async () => {
  await using fixture = await PublisherFixture.start({ pools: { n1: 100n * gib } });
  await fixture.provision('a', 'n1', 10n * gib);
  await fixture.settle(65_000);
  fixture.takeWork();
  await fixture.settle(600_000);
  expect(fixture.writes).toEqual([]);
});
