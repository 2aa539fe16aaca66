/** How pods wait: in which order, with which gates, and until when. */
import { describe, expect, test } from 'vitest';
import { persistentVolumeClaims, pods, priorityClasses } from '../../../kube/resources.ts';
import { labels } from '../../../kube/well-known.ts';
import { allControllers } from '../../all-controllers.ts';
import { namespace, SchedulerFixture } from '../testing/scheduler-fixture.ts';
import { startWithDriver } from './testing/driver-fixture.ts';
import { cpu, numbered, places, schedulingAttempts, zonalDriver } from './testing/fixtures.ts';

/** Without a node agent: placed pods never run, and no other component writes. */
const quiet = { nodes: ['n1'], beside: ['pv-binder', 'provisioner', 'protection'] };
const urgent = { priorityClassName: 'urgent', preemptionPolicy: 'Never' as const };

async function makePriorities(fixture: SchedulerFixture): Promise<void> {
  const client = fixture.cluster.resource(priorityClasses);
  await client.create({ metadata: { name: 'urgent' }, value: 1000, preemptionPolicy: 'Never' });
  await client.create({ metadata: { name: 'patient' }, value: -5, preemptionPolicy: 'Never' });
}

describe('the order', () => {
  test('of pods that compete for the last volume, the one with the highest priority gets it', async () => {
    await using fixture = await SchedulerFixture.start(quiet);
    await makePriorities(fixture);
    await fixture.stopControllers();
    await fixture.pod('patient', [], {
      spec: { ...cpu('8'), priorityClassName: 'patient', preemptionPolicy: 'Never' },
    });
    await fixture.pod('plain', [], { spec: cpu('8') });
    await fixture.pod('urgent', [], { spec: { ...cpu('8'), ...urgent } });
    fixture.startControllers(quiet);
    await fixture.settle();
    const [first, ...others] = await places(fixture, ['urgent', 'plain', 'patient']);
    expect(first).toBe('n1');
    for (const place of others) expect(place).toContain('1 Insufficient cpu');
    // The same for the pods that still wait.
    await fixture.cluster.resource(pods).delete({ namespace, name: 'urgent' }, { gracePeriodSeconds: 0 });
    await fixture.settle();
    expect(await fixture.place('plain')).toBe('n1');
    expect(await fixture.place('patient')).toContain('1 Insufficient cpu');
  });

  test('of pods with equal priority, the first one gets it', async () => {
    await using fixture = await SchedulerFixture.start(quiet);
    for (const name of numbered('p', 4)) await fixture.pod(name, [], { spec: cpu('4') });
    await fixture.settle();
    const found = await places(fixture, numbered('p', 4));
    expect(found.map((place) => place === 'n1')).toEqual([true, true, false, false]);
  });
});

describe('gates', () => {
  test('a gated pod is not scheduled until its last gate is removed, and reserves nothing meanwhile', async () => {
    await using fixture = await SchedulerFixture.start(quiet);
    await fixture.disk('d1', '5Gi', 'n1');
    await fixture.claim('data', '5Gi');
    const schedulingGates = [{ name: 'example.com/a' }, { name: 'example.com/b' }];
    await fixture.pod('web', ['data'], { spec: { schedulingGates } });
    await fixture.settle(60_000);
    expect(schedulingAttempts(fixture)).toBe(0);
    expect((await fixture.getPod('web')).status?.conditions).toEqual([
      expect.objectContaining({ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }),
    ]);
    const client = fixture.cluster.resource(pods);
    const open = (gates: readonly { readonly name: string }[]) =>
      client.patch({ namespace, name: 'web' }, { type: 'merge', body: { spec: { schedulingGates: gates } } });
    await open(schedulingGates.slice(1));
    await fixture.settle();
    expect(schedulingAttempts(fixture)).toBe(0);
    await open([]);
    await fixture.settle();
    expect(await fixture.place('web')).toBe('n1');
  });
});

describe('scheduler names', () => {
  test('pods of other schedulers are not scheduled, and count on their nodes', async () => {
    await using fixture = await SchedulerFixture.start(quiet);
    await fixture.pod('theirs', [], { spec: { schedulerName: 'another' } });
    await fixture.pod('placed', [], { spec: { schedulerName: 'another', nodeName: 'n1', ...cpu('6') } });
    await fixture.pod('ours', [], { spec: cpu('4') });
    await fixture.settle();
    expect(await fixture.place('theirs')).toBe('pending');
    expect((await fixture.getPod('theirs')).status?.conditions ?? []).toEqual([]);
    expect(await fixture.place('ours')).toContain('1 Insufficient cpu');
    expect(schedulingAttempts(fixture)).toBe(1);
  });

  test('a scheduler can have several names, including default-scheduler', async () => {
    const options = { ...quiet, scheduler: { schedulerNames: ['default-scheduler', 'mine'] } };
    await using fixture = await SchedulerFixture.start(options);
    for (const schedulerName of ['default-scheduler', 'mine', 'stowage'])
      await fixture.pod(schedulerName, [], { spec: { schedulerName } });
    await fixture.settle();
    expect(await places(fixture, ['default-scheduler', 'mine', 'stowage'])).toEqual(['n1', 'n1', 'pending']);
  });
});

describe('deleted pods', () => {
  test('a pod that is deleted while it waits is not scheduled again, and its volume is free', async () => {
    await using fixture = await SchedulerFixture.start(quiet);
    await fixture.claim('data', '5Gi');
    await fixture.pod('web', ['data']);
    await fixture.settle();
    await fixture.deletePod('web');
    const before = schedulingAttempts(fixture);
    await fixture.disk('d1', '5Gi', 'n1');
    await fixture.settle(10_000);
    expect(schedulingAttempts(fixture)).toBe(before);
    expect(await fixture.summary()).toEqual(['claim data has nothing', 'disk d1 Available to no claim']);
  });

  test('a re-created pod is another pod', async () => {
    await using fixture = await SchedulerFixture.start(quiet);
    await fixture.pod('web', [], { spec: cpu('16') });
    await fixture.settle();
    expect(await fixture.place('web')).toContain('1 Insufficient cpu');
    await fixture.deletePod('web');
    await fixture.pod('web', [], { spec: cpu('4') });
    await fixture.settle();
    expect(await fixture.place('web')).toBe('n1');
  });

  test('a pod that is re-created while its volume is being provisioned gets that volume', async () => {
    const { fixture, driver } = await startWithDriver({ nodes: { n1: '6Gi', n2: '6Gi' }, createMs: 5_000 });
    await using _ = fixture;
    await fixture.claim('data', '5Gi', { storageClassName: 'tracked' });
    await fixture.pod('web', ['data']);
    await fixture.settle(1_000);
    await fixture.deletePod('web');
    await fixture.pod('web', ['data']);
    await fixture.settle(30_000);
    expect(await fixture.place('web')).toMatch(/^n\d$/);
    expect(driver).toMatchObject({ createdCount: 1, refusals: 0 });
  });

  test('the volume of a pod that is deleted during provisioning stays with its claim, and no capacity is lost', async () => {
    const { fixture, driver } = await startWithDriver({ nodes: { n1: '10Gi' }, createMs: 5_000 });
    await using _ = fixture;
    await fixture.claim('data', '5Gi', { storageClassName: 'tracked' });
    await fixture.pod('web', ['data']);
    await fixture.settle(1_000);
    await fixture.deletePod('web');
    await fixture.settle(60_000);
    const { spec } = await fixture.cluster.resource(persistentVolumeClaims).get({ namespace, name: 'data' });
    expect(spec?.volumeName).toMatch(/^pvc-/);
    await fixture.claim('next', '5Gi', { storageClassName: 'tracked' });
    await fixture.pod('next', ['next']);
    await fixture.settle(30_000);
    expect(await fixture.place('next')).toBe('n1');
    expect(driver.refusals).toBe(0);
  });
});

describe('the feature gate VolumeScheduling', () => {
  const others = ['pv-binder', 'provisioner', 'protection'];

  function besideWith(volumeScheduling: boolean) {
    return allControllers({ volumeScheduling }).filter(({ name }) => others.includes(name));
  }

  async function startFixture(scheduler: boolean, controllers: boolean): Promise<SchedulerFixture> {
    const fixture = await SchedulerFixture.start({
      nodes: [],
      otherControllers: [],
      extraControllers: besideWith(controllers),
      scheduler: { volumeScheduling: scheduler },
    });
    for (const name of ['n1', 'n2']) await fixture.node(name, { labels: { [labels.zone]: name } });
    await fixture.storageClass('zonal', { provisioner: zonalDriver });
    return fixture;
  }

  test('off in both, claims are bound without their pods, which follow', async () => {
    await using fixture = await startFixture(false, false);
    await fixture.disk('d2', '5Gi', 'n2');
    await fixture.claim('data', '5Gi');
    await fixture.claim('provisioned', '5Gi', { storageClassName: 'zonal' });
    await fixture.settle();
    const bound = (await fixture.summary()).filter((line) => line.startsWith('claim'));
    expect(bound).toEqual(['claim data has d2', expect.stringMatching(/^claim provisioned has pvc-/)]);
    await fixture.pod('web', ['data']);
    await fixture.pod('next', ['provisioned']);
    await fixture.settle();
    expect(await fixture.place('web')).toBe('n2');
    expect(await fixture.place('next')).toMatch(/^n\d$/);
  });

  test('off only in the scheduler, pods wait until another client has bound their claims', async () => {
    await using fixture = await startFixture(false, true);
    await fixture.disk('d2', '5Gi', 'n2');
    await fixture.claim('data', '5Gi');
    await fixture.pod('web', ['data']);
    await fixture.settle();
    expect(await fixture.place('web')).toContain('pod has unbound immediate PersistentVolumeClaims');
    expect(await fixture.summary()).toContain('claim data has nothing');
    await fixture.cluster
      .resource(persistentVolumeClaims)
      .patch({ namespace, name: 'data' }, { type: 'merge', body: { spec: { volumeName: 'd2' } } });
    await fixture.settle();
    expect(await fixture.place('web')).toBe('n2');
  });

  test('off only in the other controllers, nothing is bound twice', async () => {
    await using fixture = await startFixture(true, false);
    await fixture.disk('d2', '5Gi', 'n2');
    await fixture.claim('data', '5Gi');
    await fixture.pod('web', ['data']);
    await fixture.settle(30_000);
    expect(await fixture.summary()).toEqual(['claim data has d2', 'disk d2 Bound to data', 'pod web on n2']);
  });
});
