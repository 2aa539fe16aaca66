/** Preemption on full nodes: which pods are evicted, and which pods get the capacity. */
import { expect, test } from 'vitest';
import type { PodSpec } from '../../../kube/api/core.ts';
import { getCondition } from '../../../kube/conditions.ts';
import {
  csiDrivers,
  csiNodes,
  podDisruptionBudgets,
  pods,
  priorityClasses,
} from '../../../kube/resources.ts';
import { namespace, type PodOptions, SchedulerFixture } from '../testing/scheduler-fixture.ts';
import { countPlaced, cpu, driverName } from './testing/fixtures.ts';

const beside = ['pv-binder', 'protection', 'node-agent', 'disruption'];
const urgent: PodSpec = { priorityClassName: 'urgent' };

async function startFixture(...names: readonly string[]): Promise<SchedulerFixture> {
  const fixture = await SchedulerFixture.start({ nodes: names, otherControllers: beside });
  const client = fixture.cluster.resource(priorityClasses);
  await client.create({ metadata: { name: 'urgent' }, value: 1000 });
  await client.create({ metadata: { name: 'middle' }, value: 500 });
  await client.create({ metadata: { name: 'never-preempts' }, value: 1000, preemptionPolicy: 'Never' });
  return fixture;
}

/** A pod that another scheduler has put on the node, with a grace period of 30 seconds. */
function on(nodeName: string, amount: string, rest: PodSpec = {}): PodOptions {
  return { spec: { nodeName, terminationGracePeriodSeconds: 30, ...cpu(amount), ...rest } };
}

async function nominee(fixture: SchedulerFixture, name: string): Promise<string | undefined> {
  return (await fixture.getPod(name)).status?.nominatedNodeName;
}

async function isEnding(fixture: SchedulerFixture, name: string): Promise<boolean> {
  return (await fixture.getPod(name)).metadata?.deletionTimestamp !== undefined;
}

async function exists(fixture: SchedulerFixture, name: string): Promise<boolean> {
  const { items } = await fixture.cluster.resource(pods).list({ namespace });
  return items.some(({ metadata }) => metadata?.name === name);
}

test('a pod of higher priority evicts lower ones from a full node, waits for them, and is placed', async () => {
  await using fixture = await startFixture('n1');
  await fixture.pod('low', [], on('n1', '6'));
  await fixture.pod('small', [], on('n1', '1'));
  await fixture.settle(2_000);
  await fixture.pod('high', [], { spec: { ...cpu('4'), ...urgent } });
  await fixture.settle();
  expect(await nominee(fixture, 'high')).toBe('n1');
  expect(await isEnding(fixture, 'low')).toBe(true);
  const target = getCondition((await fixture.getPod('low')).status?.conditions, 'DisruptionTarget');
  expect(target).toMatchObject({ status: 'True', reason: 'PreemptionByScheduler' });
  expect(await fixture.eventsOf('low')).toContainEqual(
    expect.stringMatching(/^Preempted: Preempted by pod .* on node n1/),
  );
  // It waits without evicting more pods.
  expect(await isEnding(fixture, 'small')).toBe(false);
  await fixture.settle(31_000);
  expect(await fixture.place('high')).toBe('n1');
  expect(await nominee(fixture, 'high')).toBeUndefined();
  expect(await exists(fixture, 'low')).toBe(false);
  expect(await exists(fixture, 'small')).toBe(true);
});

test('lower pods do not get the capacity that is being freed, other pods get what is left of it', async () => {
  await using fixture = await startFixture('n1');
  await fixture.pod('low', [], on('n1', '8'));
  await fixture.settle(2_000);
  await fixture.pod('high', [], { spec: { ...cpu('5'), ...urgent } });
  await fixture.settle();
  await fixture.pod('thief', [], { spec: cpu('4') });
  await fixture.pod('modest', [], { spec: cpu('3') });
  await fixture.settle(33_000);
  expect(await fixture.place('high')).toBe('n1');
  expect(await fixture.place('modest')).toBe('n1');
  expect(await fixture.place('thief')).toContain('1 Insufficient cpu');
});

test('a disruption budget that allows no disruption makes it preempt on another node', async () => {
  await using fixture = await startFixture('n1', 'n2');
  const metadata = (name: string, app: string) => ({ namespace, name, labels: { app } });
  await fixture.pod('guarded', [], { ...on('n1', '6'), metadata: metadata('guarded', 'guarded') });
  await fixture.pod('free', [], { ...on('n2', '6'), metadata: metadata('free', 'free') });
  await fixture.cluster.resource(podDisruptionBudgets).create({
    metadata: { namespace, name: 'budget' },
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'guarded' } } },
  });
  await fixture.settle(10_000);
  await fixture.pod('high', [], { spec: { ...cpu('4'), ...urgent } });
  await fixture.settle();
  expect(await nominee(fixture, 'high')).toBe('n2');
  expect(await isEnding(fixture, 'free')).toBe(true);
  expect(await isEnding(fixture, 'guarded')).toBe(false);
});

test.each([
  {
    name: 'a pod with preemptionPolicy Never evicts no pod',
    spec: { ...cpu('4'), priorityClassName: 'never-preempts' },
  },
  { name: 'a pod of equal priority evicts no pod', spec: cpu('4') },
  { name: 'a pod that is too large even for an empty node evicts no pod', spec: { ...cpu('9'), ...urgent } },
])('$name', async ({ spec }) => {
  await using fixture = await startFixture('n1');
  await fixture.pod('low', [], on('n1', '6'));
  await fixture.settle(2_000);
  await fixture.pod('web', [], { spec });
  await fixture.settle(5_000);
  expect(await isEnding(fixture, 'low')).toBe(false);
  expect(await nominee(fixture, 'web')).toBeUndefined();
  expect(await fixture.place('web')).toContain('1 Insufficient cpu');
});

test('no pod is evicted if the preemptor would find no volume anyway', async () => {
  await using fixture = await startFixture('n1', 'n2');
  await fixture.disk('d1', '5Gi', 'n1');
  for (const name of ['taken', 'data']) await fixture.claim(name, '5Gi');
  await fixture.pod('low', ['taken']);
  await fixture.settle(2_000);
  await fixture.pod('high', ['data'], { spec: urgent });
  await fixture.settle(5_000);
  expect(await isEnding(fixture, 'low')).toBe(false);
  expect(await fixture.place('high')).toContain('2 Preemption is not helpful for scheduling');
});

test('pods are evicted on the node that has the volume, not on another', async () => {
  await using fixture = await startFixture('n1', 'n2');
  await fixture.disk('d2', '5Gi', 'n2');
  await fixture.claim('data', '5Gi');
  for (const node of ['n1', 'n2']) await fixture.pod(`low-${node}`, [], on(node, '6'));
  await fixture.settle(2_000);
  await fixture.pod('high', ['data'], { spec: { ...cpu('4'), ...urgent } });
  await fixture.settle(35_000);
  expect(await fixture.place('high')).toBe('n2');
  expect(await exists(fixture, 'low-n1')).toBe(true);
  expect(await fixture.summary()).toContain('claim data has d2');
});

test('a pod is evicted for an attach slot', async () => {
  await using fixture = await startFixture('n1');
  await fixture.storageClass('plain');
  const drivers = [{ name: driverName, nodeID: 'n1', allocatable: { count: 1 } }];
  await fixture.cluster.resource(csiNodes).create({ metadata: { name: 'n1' }, spec: { drivers } });
  // VolumeAttachments outlive the pod: if the driver had them, an eviction alone would not help.
  const driver = { metadata: { name: driverName }, spec: { attachRequired: false } };
  await fixture.cluster.resource(csiDrivers).create(driver);
  for (const name of ['v1', 'v2']) {
    const csi = { driver: driverName, volumeHandle: name };
    await fixture.disk(name, '5Gi', 'n1', { storageClassName: 'plain', csi, local: undefined } as object);
    await fixture.claim(name, '5Gi', { storageClassName: 'plain' });
  }
  await fixture.pod('low', ['v1']);
  await fixture.settle(2_000);
  await fixture.pod('high', ['v2'], { spec: urgent });
  await fixture.settle(15_000);
  expect(await fixture.place('high')).toBe('n1');
  expect(await exists(fixture, 'low')).toBe(false);
});

test('a nominated pod goes to another node that becomes free first', async () => {
  await using fixture = await startFixture('n1');
  await fixture.pod('low', [], on('n1', '6'));
  await fixture.settle(2_000);
  await fixture.pod('high', [], { spec: { ...cpu('4'), ...urgent } });
  await fixture.settle();
  expect(await nominee(fixture, 'high')).toBe('n1');
  await fixture.node('n2');
  await fixture.settle(5_000);
  expect(await fixture.place('high')).toBe('n2');
  expect(await nominee(fixture, 'high')).toBeUndefined();
});

test('deleting a nominated pod frees the capacity for the pods that wait', async () => {
  await using fixture = await startFixture('n1');
  await fixture.pod('low', [], on('n1', '6'));
  await fixture.settle(2_000);
  await fixture.pod('high', [], { spec: { ...cpu('8'), ...urgent } });
  await fixture.settle();
  // It would fit next to the terminating pod, if there were no nominated one.
  await fixture.pod('next', [], { spec: cpu('2') });
  await fixture.settle();
  expect(await fixture.place('next')).toContain('1 Insufficient cpu');
  await fixture.cluster.resource(pods).delete({ namespace, name: 'high' }, { gracePeriodSeconds: 0 });
  await fixture.settle(2_000);
  expect(await fixture.place('next')).toBe('n1');
});

test('several preemptors are all placed, and no more pods are evicted than necessary', async () => {
  await using fixture = await startFixture('n1', 'n2', 'n3');
  const lows = ['n1', 'n2', 'n3'].map((node) => `low-${node}`);
  for (const node of ['n1', 'n2', 'n3']) await fixture.pod(`low-${node}`, [], on(node, '6'));
  await fixture.settle(2_000);
  for (const name of ['a', 'b']) await fixture.pod(name, [], { spec: { ...cpu('4'), ...urgent } });
  await fixture.settle(40_000);
  expect(await countPlaced(fixture, ['a', 'b'])).toBe(2);
  const left = await Promise.all(lows.map((name) => exists(fixture, name)));
  // One eviction frees eight, enough for both; two at most, since both are decided before the first victim is deleted.
  expect(left.filter(Boolean).length).toBeGreaterThanOrEqual(1);
});

test('a scheduler that restarts while victims terminate continues the preemption', async () => {
  await using fixture = await startFixture('n1');
  await fixture.pod('low', [], on('n1', '6'));
  await fixture.settle(2_000);
  await fixture.pod('high', [], { spec: { ...cpu('4'), ...urgent } });
  await fixture.settle();
  await fixture.stopControllers();
  fixture.startControllers({ otherControllers: beside });
  await fixture.pod('thief', [], { spec: cpu('6') });
  await fixture.settle(40_000);
  expect(await fixture.place('high')).toBe('n1');
  expect(await fixture.place('thief')).toContain('1 Insufficient cpu');
});

test('a new volume wakes a pod for which preemption did not help before', async () => {
  await using fixture = await startFixture('n1');
  await fixture.pod('low', [], on('n1', '6'));
  await fixture.claim('data', '5Gi');
  await fixture.settle(2_000);
  await fixture.pod('high', ['data'], { spec: { ...cpu('4'), ...urgent } });
  await fixture.settle();
  expect(await fixture.place('high')).toContain(
    "1 Insufficient cpu. preemption: 0/1 nodes are available: 1 node(s) didn't find available persistent volumes to bind.",
  );
  await fixture.disk('d1', '5Gi', 'n1');
  await fixture.settle(35_000);
  expect(await fixture.place('high')).toBe('n1');
});
