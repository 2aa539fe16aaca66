import { expect, test } from 'vitest';
import { WatchGate } from '../../cluster/testing/fault-hooks.ts';
import { diskSchedules } from '../../kube/stowage/disk-schedule.ts';
import { replicas } from '../../kube/stowage/replica.ts';
import { storageNodes } from '../../kube/stowage/storage-node.ts';
import { DisksFixture } from './testing/disks-fixture.ts';

async function volumeOfTwo(): Promise<DisksFixture> {
  const fixture = await DisksFixture.start(100, 100);
  await fixture.addVolume('v', { size: 10, numberOfReplicas: 2 });
  await fixture.setHealthy('v-r0');
  await fixture.setHealthy('v-r1');
  return fixture;
}

async function names(fixture: DisksFixture): Promise<readonly string[]> {
  return (await fixture.replicas()).map((line) => line.split(' ')[0]!);
}

async function diskOf(fixture: DisksFixture, name: string): Promise<number> {
  const line = (await fixture.replicas()).find((each) => each.startsWith(name));
  return Number(line!.split(' ')[1]);
}

test.each(['v-r0', 'v-r1'])('scaling down keeps the healthy replica if %s has failed', async (failed) => {
  const fixture = await volumeOfTwo();
  const body = { status: { failedAt: '2026-01-02T00:00:00Z' } };
  const client = fixture.environment.cluster.resource(replicas);
  await client.patch({ name: failed }, { type: 'merge', body }, { subresource: 'status' });
  await fixture.patchVolume('v', { numberOfReplicas: 1 });
  expect(await names(fixture)).toEqual([failed === 'v-r0' ? 'v-r1' : 'v-r0']);
});

test.each(['v-r0', 'v-r1'])(
  'scaling down keeps the healthy replica if the disk of %s is not ready',
  async (away) => {
    const fixture = await volumeOfTwo();
    await fixture.setReady(await diskOf(fixture, away), false);
    await fixture.patchVolume('v', { numberOfReplicas: 1 });
    expect(await names(fixture)).toEqual([away === 'v-r0' ? 'v-r1' : 'v-r0']);
  },
);

test('scaling down waits while no replica is healthy, and goes on when a disk answers again', async () => {
  const fixture = await volumeOfTwo();
  await fixture.setReady(1, false);
  await fixture.setReady(2, false);
  await fixture.patchVolume('v', { numberOfReplicas: 1 });
  expect(await names(fixture)).toEqual(['v-r0', 'v-r1']);
  await fixture.setReady(await diskOf(fixture, 'v-r1'), true);
  expect(await names(fixture)).toEqual(['v-r1']);
});

test('an instance that does not know that a disk has failed removes no healthy replica', async () => {
  const fixture = await volumeOfTwo();
  const away = await diskOf(fixture, 'v-r0');
  const nodes = new WatchGate(storageNodes);
  const schedules = new WatchGate(diskSchedules);
  await fixture.restartOne(nodes, schedules);
  nodes.hold();
  schedules.hold();
  await fixture.setReady(away, false);
  await fixture.patchVolume('v', { numberOfReplicas: 1 });
  expect(await names(fixture)).toEqual(['v-r0', 'v-r1']);
  nodes.release();
  schedules.release();
  await fixture.settle(30_000);
  expect(await names(fixture)).toEqual(['v-r1']);
});
