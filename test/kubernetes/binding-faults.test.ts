/**
 * The scheduler writes both sides of a binding, together with Kubernetes' own PV controller. Whatever fault hits a write, the binding
 * completes.
 */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Cluster } from '../../src/cluster/cluster.ts';
import { type ExpectedNamespace, untilConsistent } from './testing/binding-consistency.ts';
import { abandonedWrites, type Fault, type FaultPhase, faults } from './testing/binding-faults.ts';
import { BindingFixture, provisionedClass } from './testing/binding-fixture.ts';
import { ClaimMonitor } from './testing/claim-monitor.ts';
import { fakeProvisionerName, runFakeProvisioner } from './testing/fake-provisioner.ts';
import {
  atEveryStep,
  type FaultCase,
  FaultyBinding,
  newVolumeAndDisk,
  pod,
  twoDisks,
} from './testing/faulty-binding.ts';
import { freeze as freezeProcess } from './testing/freeze.ts';
import { makeClass, makeDisk, makeNode, until } from './testing/run-scheduler.ts';
import { lacks, serverPrograms, sharedTestBed } from './vitest-beds.ts';

/** All writes must have arrived after this time; otherwise the sequence of writes is not the expected one. */
const bindingMaxMs = 180_000;
/** A pod without a node after this time, while the PV controller is frozen, will not get one. */
const nextStepMs = 2_000;
/** Each wants one of the two disks. */
const rivals = ['rival-1', 'rival-2'];

const programs = [...serverPrograms, 'kube-controller-manager'] as const;

describe.skipIf(lacks(...programs))('binding together with the PV controller', () => {
  const bed = sharedTestBed({
    controllerManager: {
      controllers: ['persistentvolume-binder-controller'],
      // The default of twenty requests a second would dominate the test time.
      extraFlags: { 'kube-api-qps': 1000, 'kube-api-burst': 1000 },
    },
  });
  const over = new AbortController();
  const monitor = new ClaimMonitor();
  let cluster: Cluster;
  let background: Promise<unknown>;
  let fixtures = 0;

  beforeAll(async () => {
    cluster = await bed().connect();
    for (const node of ['n1', 'n2']) await makeNode(cluster, node, { pods: '1000' });
    await makeClass(cluster, provisionedClass, fakeProvisionerName);
    background = Promise.all([monitor.watch(cluster, over.signal), runFakeProvisioner(cluster, over.signal)]);
    background.catch(() => {});
  });

  afterAll(async () => {
    over.abort();
    await background;
  });

  async function prepare(disksOn: readonly string[]): Promise<BindingFixture> {
    fixtures += 1;
    const fixture = await BindingFixture.prepare({
      bed: bed(),
      cluster,
      name: `fixture-${fixtures}`,
      disksOn,
    });
    onTestFinished(() => fixture[Symbol.asyncDispose]());
    return fixture;
  }

  /** Starts a pod for each case. The PV controller is frozen when all cases have reached their faults. */
  async function inject(
    cases: readonly FaultCase[],
    disksOn = ['n1', 'n1', 'n2', 'n2'],
  ): Promise<FaultyBinding[]> {
    let signalFrozen = () => {};
    const frozen = new Promise<void>((resolve) => {
      signalFrozen = resolve;
    });
    const all = await start(cases, disksOn, frozen);
    await untilAll(all, ({ mayFreeze }) => mayFreeze);
    await freeze();
    signalFrozen();
    await untilAll(all, ({ isDone }) => isDone);
    return all;
  }

  async function start(cases: readonly FaultCase[], disksOn: readonly string[], frozen: Promise<void>) {
    const all = await Promise.all(
      cases.map(async (each) => new FaultyBinding({ ...each, fixture: await prepare(disksOn), frozen })),
    );
    await Promise.all(all.map((each) => each.start()));
    await untilDisksAvailable(all.map(({ fixture }) => fixture));
    await Promise.all(all.map((each) => each.createPod()));
    return all;
  }

  async function untilDisksAvailable(all: readonly BindingFixture[]): Promise<void> {
    for (const fixture of all) await until(() => fixture.areDisksAvailable());
  }

  async function untilAll(
    all: readonly FaultyBinding[],
    isSo: (each: FaultyBinding) => boolean,
  ): Promise<void> {
    const giveUpMs = Date.now() + bindingMaxMs;
    await until(() => all.every(isSo) || Date.now() > giveUpMs);
    const others = all.filter((each) => !isSo(each)).map(({ title }) => title);
    expect(others, 'have not reached this state').toEqual([]);
  }

  async function freeze(): Promise<void> {
    onTestFinished(thaw);
    await freezeProcess(bed().pidOf('kube-controller-manager')!);
  }

  async function thaw(): Promise<void> {
    await bed().signal('kube-controller-manager', 'SIGCONT');
  }

  async function runFollowUps(all: readonly FaultyBinding[], phase: FaultPhase): Promise<void> {
    await Promise.all(all.map((each) => each.runFollowUps(phase)));
  }

  async function problemsOf(
    all: readonly Pick<FaultyBinding, 'title' | 'fixture'>[],
    expected: Partial<ExpectedNamespace> = {},
  ): Promise<readonly object[]> {
    const namespaces = all.map(({ fixture }) => ({ namespace: fixture.name, ...expected }));
    const wrong = await untilConsistent(cluster, namespaces);
    return all.flatMap(({ title, fixture }) => {
      const problems = [...(wrong.get(fixture.name) ?? []), ...monitor.violationsIn(fixture.name)];
      return problems.length === 0 ? [] : [{ title, problems }];
    });
  }

  test.each(named(faults))(
    'a pod and its volumes are bound after a fault at any write: %s',
    async (_, fault) => {
      const all = await inject([...atEveryStep(twoDisks, fault), ...atEveryStep(newVolumeAndDisk, fault)]);
      await runFollowUps(all, 'beforeThaw');
      await thaw();
      await runFollowUps(all, 'afterThaw');
      expect(await problemsOf(all)).toEqual([]);
      if (fault.whenBound === undefined) return;
      await runFollowUps(all, 'whenBound');
      expect(await problemsOf(all)).toEqual([]);
    },
  );

  test('a pod and its volumes are bound, whether the scheduler or the PV controller is faster', async () => {
    const claims = twoDisks.steps.filter(({ name }) => name.endsWith('claim'));
    const cases = claims.flatMap((claim) =>
      faults.map((fault): FaultCase => ({ sequence: twoDisks, step: { ...claim, isOptional: true }, fault })),
    );
    const all = await start(cases, ['n1', 'n1', 'n2', 'n2'], Promise.resolve());
    await untilAll(all, ({ isDone }) => isDone);
    for (const phase of ['beforeThaw', 'afterThaw', 'whenBound'] as const) await runFollowUps(all, phase);
    expect(await problemsOf(all)).toEqual([]);
  });

  test.each(named(abandonedWrites))('a late write takes no volume from another pod: %s', async (_, fault) => {
    const all = await inject(atEveryStep(twoDisks, fault), ['n1', 'n1']);
    await Promise.all(
      all.map(async ({ fixture }) => {
        for (const rival of rivals) await fixture.createPod(rival, [fixture.name]);
        await untilPlaced(fixture, rivals);
      }),
    );
    await Promise.all(all.map(({ faultedWrite }) => faultedWrite?.deliver()));
    await thaw();
    expect(await problemsOf(all, { mayWait: rivals })).toEqual([]);
  });

  test('a claim does not use a new volume before the PV controller has seen it', async () => {
    const fixture = await prepare(['n1']);
    await fixture.startScheduler();
    await untilDisksAvailable([fixture]);
    await freeze();
    // The PV controller must process these volumes before the new one, and processes claims in between.
    const others = Array.from({ length: 30 }, (_, position) => `${fixture.name}-other-${position}`);
    await Promise.all(
      others.map((name) => makeDisk(cluster, name, { node: 'n2', storageClassName: 'others' })),
    );
    await fixture.createPod(pod, [provisionedClass, fixture.name]);
    await untilPlaced(fixture, [pod]);
    await thaw();
    expect(await problemsOf([{ title: 'frozen from the start', fixture }])).toEqual([]);
  });

  async function untilPlaced(fixture: BindingFixture, names: readonly string[]): Promise<void> {
    const giveUpMs = Date.now() + nextStepMs;
    for (const name of names)
      await until(async () => Date.now() > giveUpMs || (await fixture.isPlaced(name)), 50);
  }
});

/** The `$name` of a table shows only the beginning of the text, so the name is a column of its own. */
function named(all: readonly Fault[]): [string, Fault][] {
  return all.map((fault) => [fault.name, fault]);
}
