/** How pods wait: in which order, behind which gates, and until when. */
import { describe, expect, test } from 'vitest';
import { persistentVolumeClaims, pods, priorityClasses } from '../../../kube/resources.ts';
import { labels } from '../../../kube/well-known.ts';
import { allControllers } from '../../all-controllers.ts';
import { namespace, SchedulerWorld } from '../testing/scheduler-world.ts';
import { startCrowd } from './testing/crowd.ts';
import { attempts, cpu, numbered, places, zonalDriver } from './testing/furniture.ts';

/** Without a node agent: nobody runs what is placed, and nobody else writes. */
const quiet = { nodes: ['n1'], beside: ['pv-binder', 'provisioner', 'protection'] };
const urgent = { priorityClassName: 'urgent', preemptionPolicy: 'Never' as const };

async function makePriorities(world: SchedulerWorld): Promise<void> {
  const client = world.cluster.resource(priorityClasses);
  await client.create({ metadata: { name: 'urgent' }, value: 1000, preemptionPolicy: 'Never' });
  await client.create({ metadata: { name: 'patient' }, value: -5, preemptionPolicy: 'Never' });
}

describe('the order', () => {
  test('of pods that want the last place, the most important gets it', async () => {
    await using world = await SchedulerWorld.start(quiet);
    await makePriorities(world);
    await world.pause();
    await world.pod('patient', [], {
      spec: { ...cpu('8'), priorityClassName: 'patient', preemptionPolicy: 'Never' },
    });
    await world.pod('plain', [], { spec: cpu('8') });
    await world.pod('urgent', [], { spec: { ...cpu('8'), ...urgent } });
    world.resume(quiet);
    await world.settle();
    const [first, ...others] = await places(world, ['urgent', 'plain', 'patient']);
    expect(first).toBe('n1');
    for (const place of others) expect(place).toContain('1 Insufficient cpu');
    // And so on with those that wait.
    await world.cluster.resource(pods).delete({ namespace, name: 'urgent' }, { gracePeriodSeconds: 0 });
    await world.settle();
    expect(await world.place('plain')).toBe('n1');
    expect(await world.place('patient')).toContain('1 Insufficient cpu');
  });

  test('of equal pods, the one that came first', async () => {
    await using world = await SchedulerWorld.start(quiet);
    for (const name of numbered('p', 4)) await world.pod(name, [], { spec: cpu('4') });
    await world.settle();
    const found = await places(world, numbered('p', 4));
    expect(found.map((place) => place === 'n1')).toEqual([true, true, false, false]);
  });
});

describe('gates', () => {
  test('a gated pod is not looked at until its last gate is gone, and takes nothing meanwhile', async () => {
    await using world = await SchedulerWorld.start(quiet);
    await world.disk('d1', '5Gi', 'n1');
    await world.claim('data', '5Gi');
    const schedulingGates = [{ name: 'example.com/a' }, { name: 'example.com/b' }];
    await world.pod('web', ['data'], { spec: { schedulingGates } });
    await world.settle(60_000);
    expect(attempts(world)).toBe(0);
    expect((await world.getPod('web')).status?.conditions).toEqual([
      expect.objectContaining({ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }),
    ]);
    const client = world.cluster.resource(pods);
    const open = (gates: readonly { readonly name: string }[]) =>
      client.patch({ namespace, name: 'web' }, { type: 'merge', body: { spec: { schedulingGates: gates } } });
    await open(schedulingGates.slice(1));
    await world.settle();
    expect(attempts(world)).toBe(0);
    await open([]);
    await world.settle();
    expect(await world.place('web')).toBe('n1');
  });
});

describe('whose pods', () => {
  test('pods of other schedulers are left to them, and count where they are', async () => {
    await using world = await SchedulerWorld.start(quiet);
    await world.pod('theirs', [], { spec: { schedulerName: 'another' } });
    await world.pod('placed', [], { spec: { schedulerName: 'another', nodeName: 'n1', ...cpu('6') } });
    await world.pod('ours', [], { spec: cpu('4') });
    await world.settle();
    expect(await world.place('theirs')).toBe('pending');
    expect((await world.getPod('theirs')).status?.conditions ?? []).toEqual([]);
    expect(await world.place('ours')).toContain('1 Insufficient cpu');
    expect(attempts(world)).toBe(1);
  });

  test('a scheduler can have several names, that of Kubernetes too', async () => {
    const options = { ...quiet, scheduler: { schedulerNames: ['default-scheduler', 'mine'] } };
    await using world = await SchedulerWorld.start(options);
    for (const schedulerName of ['default-scheduler', 'mine', 'stowage'])
      await world.pod(schedulerName, [], { spec: { schedulerName } });
    await world.settle();
    expect(await places(world, ['default-scheduler', 'mine', 'stowage'])).toEqual(['n1', 'n1', 'pending']);
  });
});

describe('pods that go', () => {
  test('a pod that is deleted while it waits is not looked at again, and its volume is free', async () => {
    await using world = await SchedulerWorld.start(quiet);
    await world.claim('data', '5Gi');
    await world.pod('web', ['data']);
    await world.settle();
    await world.deletePod('web');
    const before = attempts(world);
    await world.disk('d1', '5Gi', 'n1');
    await world.settle(10_000);
    expect(attempts(world)).toBe(before);
    expect(await world.lines()).toEqual(['claim data has nothing', 'disk d1 Available to nobody']);
  });

  test('a pod of the same name is another pod', async () => {
    await using world = await SchedulerWorld.start(quiet);
    await world.pod('web', [], { spec: cpu('16') });
    await world.settle();
    expect(await world.place('web')).toContain('1 Insufficient cpu');
    await world.deletePod('web');
    await world.pod('web', [], { spec: cpu('4') });
    await world.settle();
    expect(await world.place('web')).toBe('n1');
  });

  test('a pod that comes anew while the volume of its namesake is being made gets that volume', async () => {
    const { world, driver } = await startCrowd({ nodes: { n1: '6Gi', n2: '6Gi' }, makeMs: 5_000 });
    await using _ = world;
    await world.claim('data', '5Gi', { storageClassName: 'tracked' });
    await world.pod('web', ['data']);
    await world.settle(1_000);
    await world.deletePod('web');
    await world.pod('web', ['data']);
    await world.settle(30_000);
    expect(await world.place('web')).toMatch(/^n\d$/);
    expect(driver).toMatchObject({ made: 1, refusals: 0 });
  });

  test('a pod that goes while its volume is being made leaves it to its claim, and no room is lost', async () => {
    const { world, driver } = await startCrowd({ nodes: { n1: '10Gi' }, makeMs: 5_000 });
    await using _ = world;
    await world.claim('data', '5Gi', { storageClassName: 'tracked' });
    await world.pod('web', ['data']);
    await world.settle(1_000);
    await world.deletePod('web');
    await world.settle(60_000);
    const { spec } = await world.cluster.resource(persistentVolumeClaims).get({ namespace, name: 'data' });
    expect(spec?.volumeName).toMatch(/^pvc-/);
    await world.claim('next', '5Gi', { storageClassName: 'tracked' });
    await world.pod('next', ['next']);
    await world.settle(30_000);
    expect(await world.place('next')).toBe('n1');
    expect(driver.refusals).toBe(0);
  });
});

describe('the gate VolumeScheduling', () => {
  const others = ['pv-binder', 'provisioner', 'protection'];

  function besideWith(volumeScheduling: boolean) {
    return allControllers({ volumeScheduling }).filter(({ name }) => others.includes(name));
  }

  async function startWorld(scheduler: boolean, controllers: boolean): Promise<SchedulerWorld> {
    const world = await SchedulerWorld.start({
      nodes: [],
      beside: [],
      controllers: besideWith(controllers),
      scheduler: { volumeScheduling: scheduler },
    });
    for (const name of ['n1', 'n2']) await world.node(name, { labels: { [labels.zone]: name } });
    await world.storageClass('zonal', { provisioner: zonalDriver });
    return world;
  }

  test('off on both sides, claims are bound without their pods, which follow', async () => {
    await using world = await startWorld(false, false);
    await world.disk('d2', '5Gi', 'n2');
    await world.claim('data', '5Gi');
    await world.claim('made', '5Gi', { storageClassName: 'zonal' });
    await world.settle();
    const bound = (await world.lines()).filter((line) => line.startsWith('claim'));
    expect(bound).toEqual(['claim data has d2', expect.stringMatching(/^claim made has pvc-/)]);
    await world.pod('web', ['data']);
    await world.pod('next', ['made']);
    await world.settle();
    expect(await world.place('web')).toBe('n2');
    expect(await world.place('next')).toMatch(/^n\d$/);
  });

  test('off in the scheduler alone, pods wait until somebody has bound their claims', async () => {
    await using world = await startWorld(false, true);
    await world.disk('d2', '5Gi', 'n2');
    await world.claim('data', '5Gi');
    await world.pod('web', ['data']);
    await world.settle();
    expect(await world.place('web')).toContain('pod has unbound immediate PersistentVolumeClaims');
    expect(await world.lines()).toContain('claim data has nothing');
    await world.cluster
      .resource(persistentVolumeClaims)
      .patch({ namespace, name: 'data' }, { type: 'merge', body: { spec: { volumeName: 'd2' } } });
    await world.settle();
    expect(await world.place('web')).toBe('n2');
  });

  test('off in the others alone, nothing is bound twice', async () => {
    await using world = await startWorld(true, false);
    await world.disk('d2', '5Gi', 'n2');
    await world.claim('data', '5Gi');
    await world.pod('web', ['data']);
    await world.settle(30_000);
    expect(await world.lines()).toEqual(['claim data has d2', 'disk d2 Bound to data', 'pod web on n2']);
  });
});
