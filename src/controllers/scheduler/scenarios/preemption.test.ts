/** Important pods on full nodes: who has to go, who stays, and who gets the room. */
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
import { namespace, type PodOptions, SchedulerWorld } from '../testing/scheduler-world.ts';
import { cpu, driverName, placed } from './testing/furniture.ts';

const beside = ['pv-binder', 'protection', 'node-agent', 'disruption'];
const urgent: PodSpec = { priorityClassName: 'urgent' };

async function startWorld(...names: readonly string[]): Promise<SchedulerWorld> {
  const world = await SchedulerWorld.start({ nodes: names, beside });
  const client = world.cluster.resource(priorityClasses);
  await client.create({ metadata: { name: 'urgent' }, value: 1000 });
  await client.create({ metadata: { name: 'middle' }, value: 500 });
  await client.create({ metadata: { name: 'polite' }, value: 1000, preemptionPolicy: 'Never' });
  return world;
}

/** A pod on that node, by whatever scheduler; with a grace period of 30 seconds. */
function on(nodeName: string, amount: string, rest: PodSpec = {}): PodOptions {
  return { spec: { nodeName, terminationGracePeriodSeconds: 30, ...cpu(amount), ...rest } };
}

async function nominee(world: SchedulerWorld, name: string): Promise<string | undefined> {
  return (await world.getPod(name)).status?.nominatedNodeName;
}

async function isEnding(world: SchedulerWorld, name: string): Promise<boolean> {
  return (await world.getPod(name)).metadata?.deletionTimestamp !== undefined;
}

async function exists(world: SchedulerWorld, name: string): Promise<boolean> {
  const { items } = await world.cluster.resource(pods).list({ namespace });
  return items.some(({ metadata }) => metadata?.name === name);
}

test('a pod of higher priority has lower ones leave a full node, waits for them, and takes the room', async () => {
  await using world = await startWorld('n1');
  await world.pod('low', [], on('n1', '6'));
  await world.pod('small', [], on('n1', '1'));
  await world.settle(2_000);
  await world.pod('high', [], { spec: { ...cpu('4'), ...urgent } });
  await world.settle();
  expect(await nominee(world, 'high')).toBe('n1');
  expect(await isEnding(world, 'low')).toBe(true);
  const target = getCondition((await world.getPod('low')).status?.conditions, 'DisruptionTarget');
  expect(target).toMatchObject({ status: 'True', reason: 'PreemptionByScheduler' });
  expect(await world.toldOf('low')).toContainEqual(
    expect.stringMatching(/^Preempted: Preempted by pod .* on node n1/),
  );
  // It waits without asking for more.
  expect(await isEnding(world, 'small')).toBe(false);
  await world.settle(31_000);
  expect(await world.place('high')).toBe('n1');
  expect(await nominee(world, 'high')).toBeUndefined();
  expect(await exists(world, 'low')).toBe(false);
  expect(await exists(world, 'small')).toBe(true);
});

test('the room that is being made is not for lower pods, and is for others what is left of it', async () => {
  await using world = await startWorld('n1');
  await world.pod('low', [], on('n1', '8'));
  await world.settle(2_000);
  await world.pod('high', [], { spec: { ...cpu('5'), ...urgent } });
  await world.settle();
  await world.pod('thief', [], { spec: cpu('4') });
  await world.pod('modest', [], { spec: cpu('3') });
  await world.settle(33_000);
  expect(await world.place('high')).toBe('n1');
  expect(await world.place('modest')).toBe('n1');
  expect(await world.place('thief')).toContain('1 Insufficient cpu');
});

test('a budget that allows no disruption sends it to the node without one', async () => {
  await using world = await startWorld('n1', 'n2');
  const metadata = (name: string, app: string) => ({ namespace, name, labels: { app } });
  await world.pod('guarded', [], { ...on('n1', '6'), metadata: metadata('guarded', 'guarded') });
  await world.pod('free', [], { ...on('n2', '6'), metadata: metadata('free', 'free') });
  await world.cluster.resource(podDisruptionBudgets).create({
    metadata: { namespace, name: 'budget' },
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'guarded' } } },
  });
  await world.settle(10_000);
  await world.pod('high', [], { spec: { ...cpu('4'), ...urgent } });
  await world.settle();
  expect(await nominee(world, 'high')).toBe('n2');
  expect(await isEnding(world, 'free')).toBe(true);
  expect(await isEnding(world, 'guarded')).toBe(false);
});

test.each([
  { name: 'a polite pod evicts nobody', spec: { ...cpu('4'), priorityClassName: 'polite' } },
  { name: 'an equal pod evicts nobody', spec: cpu('4') },
  { name: 'a pod that is too large even for an empty node evicts nobody', spec: { ...cpu('9'), ...urgent } },
])('$name', async ({ spec }) => {
  await using world = await startWorld('n1');
  await world.pod('low', [], on('n1', '6'));
  await world.settle(2_000);
  await world.pod('web', [], { spec });
  await world.settle(5_000);
  expect(await isEnding(world, 'low')).toBe(false);
  expect(await nominee(world, 'web')).toBeUndefined();
  expect(await world.place('web')).toContain('1 Insufficient cpu');
});

test('nobody is evicted for a volume that would not be there anyway', async () => {
  await using world = await startWorld('n1', 'n2');
  await world.disk('d1', '5Gi', 'n1');
  for (const name of ['taken', 'data']) await world.claim(name, '5Gi');
  await world.pod('low', ['taken']);
  await world.settle(2_000);
  await world.pod('high', ['data'], { spec: urgent });
  await world.settle(5_000);
  expect(await isEnding(world, 'low')).toBe(false);
  expect(await world.place('high')).toContain('2 Preemption is not helpful for scheduling');
});

test('room is made on the node that has the volume, not on another', async () => {
  await using world = await startWorld('n1', 'n2');
  await world.disk('d2', '5Gi', 'n2');
  await world.claim('data', '5Gi');
  for (const node of ['n1', 'n2']) await world.pod(`low-${node}`, [], on(node, '6'));
  await world.settle(2_000);
  await world.pod('high', ['data'], { spec: { ...cpu('4'), ...urgent } });
  await world.settle(35_000);
  expect(await world.place('high')).toBe('n2');
  expect(await exists(world, 'low-n1')).toBe(true);
  expect(await world.lines()).toContain('claim data has d2');
});

test('slots for volumes are worth an eviction', async () => {
  await using world = await startWorld('n1');
  await world.storageClass('plain');
  const drivers = [{ name: driverName, nodeID: 'n1', allocatable: { count: 1 } }];
  await world.cluster.resource(csiNodes).create({ metadata: { name: 'n1' }, spec: { drivers } });
  // With attachments, which outlive the pod, an eviction alone would not help.
  const driver = { metadata: { name: driverName }, spec: { attachRequired: false } };
  await world.cluster.resource(csiDrivers).create(driver);
  for (const name of ['v1', 'v2']) {
    const csi = { driver: driverName, volumeHandle: name };
    await world.disk(name, '5Gi', 'n1', { storageClassName: 'plain', csi, local: undefined } as object);
    await world.claim(name, '5Gi', { storageClassName: 'plain' });
  }
  await world.pod('low', ['v1']);
  await world.settle(2_000);
  await world.pod('high', ['v2'], { spec: urgent });
  await world.settle(15_000);
  expect(await world.place('high')).toBe('n1');
  expect(await exists(world, 'low')).toBe(false);
});

test('a nominated pod that finds room elsewhere takes it', async () => {
  await using world = await startWorld('n1');
  await world.pod('low', [], on('n1', '6'));
  await world.settle(2_000);
  await world.pod('high', [], { spec: { ...cpu('4'), ...urgent } });
  await world.settle();
  expect(await nominee(world, 'high')).toBe('n1');
  await world.node('n2');
  await world.settle(5_000);
  expect(await world.place('high')).toBe('n2');
  expect(await nominee(world, 'high')).toBeUndefined();
});

test('a nominated pod that is deleted leaves its room to those that wait', async () => {
  await using world = await startWorld('n1');
  await world.pod('low', [], on('n1', '6'));
  await world.settle(2_000);
  await world.pod('high', [], { spec: { ...cpu('8'), ...urgent } });
  await world.settle();
  // It would fit beside the one that is leaving, but for the one that is to come.
  await world.pod('next', [], { spec: cpu('2') });
  await world.settle();
  expect(await world.place('next')).toContain('1 Insufficient cpu');
  await world.cluster.resource(pods).delete({ namespace, name: 'high' }, { gracePeriodSeconds: 0 });
  await world.settle(2_000);
  expect(await world.place('next')).toBe('n1');
});

test('several important pods each get room, and no more is made than they need', async () => {
  await using world = await startWorld('n1', 'n2', 'n3');
  const lows = ['n1', 'n2', 'n3'].map((node) => `low-${node}`);
  for (const node of ['n1', 'n2', 'n3']) await world.pod(`low-${node}`, [], on(node, '6'));
  await world.settle(2_000);
  for (const name of ['a', 'b']) await world.pod(name, [], { spec: { ...cpu('4'), ...urgent } });
  await world.settle(40_000);
  expect(await placed(world, ['a', 'b'])).toBe(2);
  const left = await Promise.all(lows.map((name) => exists(world, name)));
  // One leaves eight, enough for both; two at most, since both are decided on before anybody has left.
  expect(left.filter(Boolean).length).toBeGreaterThanOrEqual(1);
});

test('a scheduler that dies while room is being made finds it again', async () => {
  await using world = await startWorld('n1');
  await world.pod('low', [], on('n1', '6'));
  await world.settle(2_000);
  await world.pod('high', [], { spec: { ...cpu('4'), ...urgent } });
  await world.settle();
  await world.pause();
  world.resume({ beside });
  await world.pod('thief', [], { spec: cpu('6') });
  await world.settle(40_000);
  expect(await world.place('high')).toBe('n1');
  expect(await world.place('thief')).toContain('1 Insufficient cpu');
});

test('a volume that comes is the chance of a pod that evicting others did not help before', async () => {
  await using world = await startWorld('n1');
  await world.pod('low', [], on('n1', '6'));
  await world.claim('data', '5Gi');
  await world.settle(2_000);
  await world.pod('high', ['data'], { spec: { ...cpu('4'), ...urgent } });
  await world.settle();
  expect(await world.place('high')).toContain(
    "1 Insufficient cpu. preemption: 0/1 nodes are available: 1 node(s) didn't find available persistent volumes to bind.",
  );
  await world.disk('d1', '5Gi', 'n1');
  await world.settle(35_000);
  expect(await world.place('high')).toBe('n1');
});
