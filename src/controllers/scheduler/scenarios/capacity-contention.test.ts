/** Many pods and a driver that publishes its free capacity late: it is never asked for more than it has. */
import { expect, test } from 'vitest';
import type { SchedulerFixture } from '../testing/scheduler-fixture.ts';
import { driverFixtureControllers, startWithDriver } from './testing/driver-fixture.ts';
import { countPlaced, numbered, places, schedulingAttempts } from './testing/fixtures.ts';

const tracked = { storageClassName: 'tracked' };

function nodesOf(count: number, size: string): Readonly<Record<string, string>> {
  return Object.fromEntries(numbered('n', count).map((name) => [name, size]));
}

async function askFor(fixture: SchedulerFixture, names: readonly string[], size: string): Promise<void> {
  for (const name of names) await fixture.claim(name, size, tracked);
  for (const name of names) await fixture.pod(name, [name]);
}

test('pods that fill forty nodes to the last byte never make the driver refuse', async () => {
  const { fixture, driver } = await startWithDriver({ nodes: nodesOf(40, '10Gi') });
  await using _ = fixture;
  const pods = numbered('p', 81);
  await askFor(fixture, pods, '5Gi');
  await fixture.settle(120_000);
  expect(driver).toMatchObject({ refusals: 0, createdCount: 80 });
  // One pod does not fit; which one is not defined.
  expect(await countPlaced(fixture, pods)).toBe(80);
  const found = await places(fixture, pods);
  expect(found.find((place) => !/^n\d+$/.test(place))).toContain(
    '40 node(s) did not have enough free storage',
  );
});

test('pods that come in waves, with publications in between, never make the driver refuse', async () => {
  const { fixture, driver } = await startWithDriver({
    nodes: nodesOf(10, '10Gi'),
    createMs: 7_000,
    publishEveryMs: 5_000,
  });
  await using _ = fixture;
  for (const wave of numbered('w', 5)) {
    await askFor(fixture, numbered(`${wave}-`, 10), '2Gi');
    await fixture.settle(9_000);
  }
  await fixture.settle(180_000);
  expect(driver).toMatchObject({ refusals: 0, createdCount: 50 });
});

test('capacity that is out of date when it is published causes refusals, and the final state is the same', async () => {
  const { fixture, driver } = await startWithDriver({
    nodes: nodesOf(10, '10Gi'),
    publishEveryMs: 5_000,
    publishDelayMs: 4_000,
  });
  await using _ = fixture;
  const pods = numbered('p', 60);
  for (let first = 0; first < 60; first += 10) {
    await askFor(fixture, pods.slice(first, first + 10), '2Gi');
    await fixture.settle(4_000);
  }
  await fixture.settle(180_000);
  expect(driver.createdCount).toBe(50);
  expect(await countPlaced(fixture, pods)).toBe(50);
  // Each pod that does not fit tries each node once.
  expect(driver.refusals).toBeLessThanOrEqual(10 * 10);
});

test('a scheduler that crashes repeatedly while pods are in flight promises nothing twice', async () => {
  const { fixture, driver } = await startWithDriver({ nodes: nodesOf(10, '10Gi'), createMs: 3_000 });
  await using _ = fixture;
  const pods = numbered('p', 50);
  for (let round = 0; round < 5; round += 1) {
    await askFor(fixture, pods.slice(round * 10, round * 10 + 10), '2Gi');
    await fixture.settle(1_000);
    await fixture.stopControllers();
    fixture.startControllers({
      otherControllers: driverFixtureControllers,
      extraControllers: driver.controllers,
    });
  }
  await fixture.settle(200_000);
  expect(driver).toMatchObject({ refusals: 0, createdCount: 50 });
  expect(await countPlaced(fixture, pods)).toBe(50);
});

test('a driver that refuses what it has published is avoided for a while, and then asked again', async () => {
  const { fixture, driver } = await startWithDriver({ nodes: nodesOf(2, '10Gi'), publishEveryMs: 600_000 });
  await using _ = fixture;
  driver.isBroken = true;
  await askFor(fixture, ['web'], '3Gi');
  await fixture.settle(5_000);
  expect(driver.refusals).toBe(2);
  expect(await fixture.place('web')).toContain('2 node(s) recently failed to provide a volume');
  driver.isBroken = false;
  await fixture.settle(30_000);
  expect(await fixture.place('web')).toMatch(/^n\d$/);
  expect(schedulingAttempts(fixture, 'error')).toBe(0);
});
