import { expect, test } from 'vitest';
import { diskSchedules } from '../../kube/stowage/disk-schedule.ts';
import { DisksFixture, diskUUID } from './testing/disks-fixture.ts';

const minute = 61_000;

test('a second request, on a disk that its replica is not on, is removed after two looks a minute apart', async () => {
  const fixture = await DisksFixture.start(100, 100);
  await fixture.addVolume('v', { size: 10, numberOfReplicas: 1 });
  const [place] = await fixture.replicas();
  expect(place).toBe('v-r0 1 10 running');

  // Another instance assigned the replica, and was overtaken before it wrote its request.
  const body = { spec: { replicas: { 'v-r0': 10 } } };
  const schedules = fixture.environment.cluster.resource(diskSchedules);
  await schedules.patch({ name: diskUUID(2) }, { type: 'merge', body });
  await fixture.environment.settle(minute / 2);
  expect(await fixture.granted()).toEqual({ 1: 10, 2: 10 });
  await fixture.settle(2 * minute);
  expect(await fixture.granted()).toEqual({ 1: 10, 2: 0 });
});
