import { expect, test } from 'vitest';
import { events, pods } from '../../kube/resources.ts';
import { namespace, SchedulerFixture } from './testing/scheduler-fixture.ts';

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

test('events about pods of default-scheduler name default-scheduler as their source', async () => {
  const schedulerNames = ['stowage', 'default-scheduler'];
  await using fixture = await SchedulerFixture.start({ scheduler: { schedulerNames } });
  const spec = { containers: [{ name: 'main', image: 'pause' }] };
  await fixture.cluster.resource(pods).create({ metadata: { namespace, name: 'plain' }, spec });
  await fixture.pod('own');
  await fixture.settle();
  const { items } = await fixture.cluster.resource(events).list();
  const sources = items
    .filter(({ reason }) => reason === 'Scheduled')
    .map(({ regarding, reportingController }) => `${regarding?.name} ${reportingController}`);
  expect(sources.sort()).toEqual(['own stowage.dev/scheduler', 'plain default-scheduler']);
});
