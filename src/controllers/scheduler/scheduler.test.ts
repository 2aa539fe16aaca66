import { expect, test } from 'vitest';
import { SchedulerFixture } from './testing/scheduler-fixture.ts';

test('a pod without volumes gets a node', async () => {
  await using fixture = await SchedulerFixture.start();
  await fixture.pod('web');
  await fixture.settle();
  expect(await fixture.place('web')).toMatch(/^n[123]$/);
  expect(await fixture.eventsOf('web')).toContainEqual(
    expect.stringMatching(/^Scheduled: Successfully assigned default\/web to n/),
  );
});

test('a pod goes to the node with a disk for its claim, and both are bound', async () => {
  await using fixture = await SchedulerFixture.start();
  await fixture.disk('d2', '10Gi', 'n2');
  await fixture.claim('data', '5Gi');
  await fixture.pod('web', ['data']);
  await fixture.settle();
  expect(await fixture.summary()).toEqual(['claim data has d2', 'disk d2 Bound to data', 'pod web on n2']);
});

test('a pod without a disk reports why, and is placed as soon as there is one', async () => {
  await using fixture = await SchedulerFixture.start();
  await fixture.disk('small', '1Gi', 'n1');
  await fixture.claim('data', '5Gi');
  await fixture.pod('web', ['data']);
  await fixture.settle();
  expect(await fixture.place('web')).toBe(
    "0/3 nodes are available: 3 node(s) didn't find available persistent volumes to bind. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling. Closest is node n1: claim default/data, volume small: it is smaller than the request (needs 5Gi, has 1Gi).",
  );
  await fixture.disk('large', '5Gi', 'n3');
  await fixture.settle(1_000);
  expect(await fixture.place('web')).toBe('n3');
});
