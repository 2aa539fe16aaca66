/** What went wrong for others when something failed half-way, each as a scenario of its own. */
import { expect, test } from 'vitest';
import { nodes, persistentVolumeClaims, persistentVolumes } from '../../../kube/resources.ts';
import { annotations, labels } from '../../../kube/well-known.ts';
import { TrialCluster } from '../../testing/trial-cluster.ts';
import { createScheduler } from '../scheduler.ts';
import { namespace, SchedulerWorld, schedulingControllers } from '../testing/scheduler-world.ts';
import { startCrowd } from './testing/crowd.ts';
import { FailingCluster } from './testing/failing-cluster.ts';
import { numbered, placed, zonalDriver } from './testing/furniture.ts';

const tracked = { storageClassName: 'tracked' };

async function selectedNode(world: SchedulerWorld, name: string): Promise<string | undefined> {
  const claim = await world.cluster.resource(persistentVolumeClaims).get({ namespace, name });
  return claim.metadata?.annotations?.[annotations.selectedNode];
}

async function countVolumes(world: SchedulerWorld): Promise<number> {
  return (await world.cluster.resource(persistentVolumes).list()).items.length;
}

test('S4: the second of two volumes can not be taken: others are not held up, and the pod ends where the first is', async () => {
  const trial = await TrialCluster.start();
  await using world = new SchedulerWorld(trial);
  await world.furnish(['n1', 'n2']);
  const failing = new FailingCluster(world.cluster);
  const [scheduler, ...others] = schedulingControllers({});
  trial.run([scheduler!], failing);
  trial.run(others);
  for (const [disk, node] of [
    ['a1', 'n1'],
    ['a2', 'n1'],
    ['b1', 'n2'],
  ] as const)
    await world.disk(disk, '5Gi', node);
  for (const name of ['x', 'y', 'z']) await world.claim(name, '5Gi');
  await world.settle();
  failing.breaks = (plural, name) => plural === 'persistentvolumes' && name === 'a2';
  await world.pod('a', ['x', 'y']);
  await world.pod('b', ['z']);
  await world.settle(700);
  expect(await world.place('b')).toMatch(/^n\d$/);
  // The first was bound before it could be given back: that is told, and it isn't lost.
  expect(await world.lines()).toEqual(
    expect.arrayContaining(['claim x has a1', 'claim y has nothing', 'disk a2 Available to nobody']),
  );
  expect(await world.toldOf('a')).toContainEqual(
    expect.stringMatching(/^VolumesKept: claim default\/x stays bound to volume a1/),
  );
  failing.breaks = () => false;
  await world.settle(20_000);
  expect(await world.place('a')).toBe('n1');
});

test('S5: a volume that comes after the deadline is adopted, and the pod runs', async () => {
  const { world, driver } = await startCrowd({ nodes: { n1: '10Gi', n2: '10Gi' }, makeMs: 20_000 }, {});
  await using _ = world;
  await world.pause();
  world.resume({
    beside: ['pv-binder'],
    controllers: driver.controllers,
    scheduler: { bindTimeoutMs: 5_000 },
  });
  await world.claim('data', '5Gi', tracked);
  await world.pod('web', ['data']);
  await world.settle(6_000);
  expect(await world.place('web')).toBe('binding volumes: context deadline exceeded');
  await world.settle(60_000);
  expect(await world.place('web')).toMatch(/^n\d$/);
  expect(driver).toMatchObject({ refusals: 0, made: 1, kept: 1 });
  expect(await countVolumes(world)).toBe(1);
});

test('S6: the node goes between the choice and the volume: the choice is cleared, the pod goes elsewhere', async () => {
  await using world = await SchedulerWorld.start({ nodes: [], beside: ['pv-binder'] });
  for (const name of ['n1', 'n2']) await world.node(name, { labels: { [labels.zone]: name } });
  await world.storageClass('zonal', { provisioner: zonalDriver });
  await world.claim('data', '5Gi', { storageClassName: 'zonal' });
  await world.pod('web', ['data']);
  await world.settle();
  const first = await selectedNode(world, 'data');
  expect(first).toMatch(/^n\d$/);
  await world.cluster.resource(nodes).delete({ name: first! });
  await world.settle(5_000);
  expect(await world.place('web')).toContain("didn't find available persistent volumes to bind");
  const provisioner = schedulingControllers({ beside: ['provisioner'] }).slice(1);
  world.trial.run(provisioner);
  await world.settle(30_000);
  expect(await world.place('web')).toBe(first === 'n1' ? 'n2' : 'n1');
});

test('S7: the claim goes while its volume is being made: nothing is left of it', async () => {
  const { world, driver } = await startCrowd({ nodes: { n1: '10Gi' }, makeMs: 10_000 });
  await using _ = world;
  await world.claim('data', '8Gi', tracked);
  await world.pod('web', ['data']);
  await world.settle(2_000);
  await world.deletePod('web');
  await world.cluster.resource(persistentVolumeClaims).delete({ namespace, name: 'data' });
  await world.settle(60_000);
  expect(driver).toMatchObject({ made: 1, kept: 0 });
  expect(await countVolumes(world)).toBe(0);
  // Its room is there for the next, at the latest when the driver has had the time to say that it is full.
  await world.claim('next', '8Gi', tracked);
  await world.pod('next', ['next']);
  await world.settle(160_000);
  expect(await world.place('next')).toBe('n1');
});

test('S15: killed between the choice and the pod, its successor ends what it began, once', async () => {
  const { world, driver } = await startCrowd({ nodes: { n1: '5Gi', n2: '5Gi' }, makeMs: 5_000 });
  await using _ = world;
  await world.claim('data', '5Gi', tracked);
  await world.pod('web', ['data']);
  await world.settle(1_000);
  const first = await selectedNode(world, 'data');
  await world.pause();
  world.resume({ beside: ['pv-binder'], controllers: driver.controllers });
  await world.settle(20_000);
  expect(await world.place('web')).toBe(first);
  expect(driver).toMatchObject({ refusals: 0, made: 1, kept: 1 });
});

test('S15: two schedulers at once give no volume twice, and leave no pod behind', async () => {
  await using world = await SchedulerWorld.start({ nodes: ['n1', 'n2', 'n3', 'n4'] });
  world.trial.run([createScheduler()]);
  const pods = numbered('p', 12);
  for (const [position, name] of pods.entries())
    await world.disk(`d-${name}`, '5Gi', `n${(position % 4) + 1}`);
  for (const name of pods) await world.claim(name, '5Gi');
  for (const name of pods) await world.pod(name, [name]);
  await world.settle(120_000);
  expect(await placed(world, pods)).toBe(12);
  const owners = (await world.lines())
    .filter((line) => line.startsWith('claim'))
    .map((line) => line.split(' ')[3]);
  expect(new Set(owners).size).toBe(12);
});

test('S18: pods that came while nobody scheduled are placed when somebody does', async () => {
  await using world = await SchedulerWorld.start({ nodes: ['n1'] });
  await world.disk('d1', '5Gi', 'n1');
  await world.pause();
  await world.claim('data', '5Gi');
  await world.pod('web', ['data']);
  await world.settle(60_000);
  expect(await world.place('web')).toBe('pending');
  world.resume();
  await world.settle();
  expect(await world.place('web')).toBe('n1');
});
