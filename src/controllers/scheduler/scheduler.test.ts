import { expect, test } from 'vitest';
import { deviceClasses, events, nodes, pods } from '../../kube/resources.ts';
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

test('a pod whose resource a DeviceClass serves is refused as unsupported, and goes to a node that advertises it', async () => {
  await using fixture = await SchedulerFixture.start();
  const { cluster } = fixture;
  const resources = { limits: { 'example.com/gpu': '1' }, requests: { 'example.com/gpu': '1' } };
  const spec = { schedulerName: 'stowage', containers: [{ name: 'main', image: 'pause', resources }] };
  await cluster.resource(pods).create({ metadata: { namespace, name: 'web' }, spec });
  await fixture.settle();
  expect(await fixture.place('web')).toContain('3 Insufficient example.com/gpu');
  // The class wakes the pod, whose condition then has the other reason.
  await cluster
    .resource(deviceClasses)
    .create({ metadata: { name: 'gpus' }, spec: { extendedResourceName: 'example.com/gpu' } });
  await fixture.settle(15_000);
  expect(await fixture.place('web')).toContain(
    '3 node(s) serve example.com/gpu by a DeviceClass (dynamic resource allocation), which the stowage scheduler does not support',
  );
  const body = { status: { allocatable: { 'example.com/gpu': '1' }, capacity: { 'example.com/gpu': '1' } } };
  await cluster.resource(nodes).patch({ name: 'n2' }, { type: 'merge', body }, { subresource: 'status' });
  await fixture.settle(15_000);
  expect(await fixture.place('web')).toBe('n2');
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
