import { expect, test } from 'vitest';
import { SchedulerWorld } from './testing/scheduler-world.ts';

test('a pod without volumes gets a node', async () => {
  await using world = await SchedulerWorld.start();
  await world.pod('web');
  await world.settle();
  expect(await world.place('web')).toMatch(/^n[123]$/);
  expect(await world.toldOf('web')).toContainEqual(
    expect.stringMatching(/^Scheduled: Successfully assigned default\/web to n/),
  );
});

test('a pod goes where its claim finds a disk, and both are bound', async () => {
  await using world = await SchedulerWorld.start();
  await world.disk('d2', '10Gi', 'n2');
  await world.claim('data', '5Gi');
  await world.pod('web', ['data']);
  await world.settle();
  expect(await world.lines()).toEqual(['claim data has d2', 'disk d2 Bound to data', 'pod web on n2']);
});

test('a pod without a disk says why, and goes as soon as there is one', async () => {
  await using world = await SchedulerWorld.start();
  await world.disk('small', '1Gi', 'n1');
  await world.claim('data', '5Gi');
  await world.pod('web', ['data']);
  await world.settle();
  expect(await world.place('web')).toBe(
    "0/3 nodes are available: 3 node(s) didn't find available persistent volumes to bind. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling. Closest is node n1: claim default/data, volume small: it is smaller than the request (needs 5Gi, has 1Gi).",
  );
  await world.disk('large', '5Gi', 'n3');
  await world.settle(1_000);
  expect(await world.place('web')).toBe('n3');
});
