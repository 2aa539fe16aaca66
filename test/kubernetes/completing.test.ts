/**
 * The scheduler writes both sides of a binding, together with Kubernetes' own PV controller. Whatever fault hits a write, the binding
 * completes.
 */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Cluster } from '../../src/cluster/cluster.ts';
import { lacks, serverPrograms, sharedBed } from './bed-in-test.ts';
import { type Fault, faults, lateForNobody, type Moment } from './testing/binding-faults.ts';
import { calm, type Expected } from './testing/binding-order.ts';
import { BindingTrial, madeClass } from './testing/binding-trial.ts';
import { ClaimWitness } from './testing/claim-witness.ts';
import { diskMaker, makeDisks } from './testing/disk-maker.ts';
import { type Case, everywhere, FaultyWay, newVolumeAndDisk, pod, twoDisks } from './testing/faulty-way.ts';
import { makeClass, makeDisk, makeNode, until } from './testing/run-scheduler.ts';

/** All writes must have arrived after this time; otherwise the sequence of writes is not the expected one. */
const waysMaxMs = 30_000;
/** A pod without a node after this time, while the PV controller is frozen, will not get one. */
const aWhileMs = 2_000;
/** Each wants one of the two disks. */
const rivals = ['rival-1', 'rival-2'];

const programs = [...serverPrograms, 'kube-controller-manager'] as const;

describe.skipIf(lacks(...programs))('binding together with the PV controller', () => {
  const bed = sharedBed({
    controllerManager: {
      controllers: ['persistentvolume-binder-controller'],
      // The default of twenty requests a second would dominate the test time.
      extraFlags: { 'kube-api-qps': 1000, 'kube-api-burst': 1000 },
    },
  });
  const over = new AbortController();
  const witness = new ClaimWitness();
  let cluster: Cluster;
  let background: Promise<unknown>;
  let trials = 0;

  beforeAll(async () => {
    cluster = await bed().connect();
    for (const node of ['n1', 'n2']) await makeNode(cluster, node, { pods: '1000' });
    await makeClass(cluster, madeClass, diskMaker);
    background = Promise.all([witness.watch(cluster, over.signal), makeDisks(cluster, over.signal)]);
    background.catch(() => {});
  });

  afterAll(async () => {
    over.abort();
    await background;
  });

  async function prepare(disksOn: readonly string[]): Promise<BindingTrial> {
    trials += 1;
    const trial = await BindingTrial.prepare({ bed: bed(), cluster, name: `trial-${trials}`, disksOn });
    onTestFinished(() => trial[Symbol.asyncDispose]());
    return trial;
  }

  /** Starts a pod for each case. The PV controller is frozen when all cases have reached their faults. */
  async function befall(cases: readonly Case[], disksOn = ['n1', 'n1', 'n2', 'n2']): Promise<FaultyWay[]> {
    let letGo = () => {};
    const frozen = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const all = await start(cases, disksOn, frozen);
    await allSoon(all, ({ mayFreeze }) => mayFreeze);
    await freeze();
    letGo();
    await allSoon(all, ({ isOver }) => isOver);
    return all;
  }

  async function start(cases: readonly Case[], disksOn: readonly string[], frozen: Promise<void>) {
    const all = await Promise.all(
      cases.map(async (each) => new FaultyWay({ ...each, trial: await prepare(disksOn), frozen })),
    );
    await Promise.all(all.map((each) => each.start()));
    await furnished(all.map(({ trial }) => trial));
    await Promise.all(all.map((each) => each.ask()));
    return all;
  }

  async function furnished(all: readonly BindingTrial[]): Promise<void> {
    for (const trial of all) await until(() => trial.isFurnished());
  }

  async function allSoon(all: readonly FaultyWay[], isSo: (each: FaultyWay) => boolean): Promise<void> {
    const giveUpMs = Date.now() + waysMaxMs;
    await until(() => all.every(isSo) || Date.now() > giveUpMs);
    const others = all.filter((each) => !isSo(each)).map(({ title }) => title);
    expect(others, 'have not come so far').toEqual([]);
  }

  async function freeze(): Promise<void> {
    await bed().signal('kube-controller-manager', 'SIGSTOP');
    onTestFinished(thaw);
  }

  async function thaw(): Promise<void> {
    await bed().signal('kube-controller-manager', 'SIGCONT');
  }

  async function afterwards(all: readonly FaultyWay[], moment: Moment): Promise<void> {
    await Promise.all(all.map((each) => each.afterwards(moment)));
  }

  async function problemsOf(
    all: readonly Pick<FaultyWay, 'title' | 'trial'>[],
    expected: Partial<Expected> = {},
  ): Promise<readonly object[]> {
    const namespaces = all.map(({ trial }) => ({ namespace: trial.name, ...expected }));
    const wrong = await calm(cluster, namespaces);
    return all.flatMap(({ title, trial }) => {
      const problems = [...(wrong.get(trial.name) ?? []), ...witness.offencesIn(trial.name)];
      return problems.length === 0 ? [] : [{ title, problems }];
    });
  }

  test.each(named(faults))(
    'a pod and its volumes are bound after a fault at any write: %s',
    async (_, fault) => {
      const all = await befall([...everywhere(twoDisks, fault), ...everywhere(newVolumeAndDisk, fault)]);
      await afterwards(all, 'beforeThaw');
      await thaw();
      await afterwards(all, 'afterThaw');
      expect(await problemsOf(all)).toEqual([]);
      if (fault.whenCalm === undefined) return;
      await afterwards(all, 'whenCalm');
      expect(await problemsOf(all)).toEqual([]);
    },
  );

  test('a pod and its volumes are bound, whether the scheduler or the PV controller is faster', async () => {
    const claims = twoDisks.steps.filter(({ name }) => name.endsWith('claim'));
    const cases = claims.flatMap((claim) =>
      faults.map((fault): Case => ({ way: twoDisks, step: { ...claim, isOptional: true }, fault })),
    );
    const all = await start(cases, ['n1', 'n1', 'n2', 'n2'], Promise.resolve());
    await allSoon(all, ({ isOver }) => isOver);
    for (const moment of ['beforeThaw', 'afterThaw', 'whenCalm'] as const) await afterwards(all, moment);
    expect(await problemsOf(all)).toEqual([]);
  });

  test.each(named(lateForNobody))('a late write takes no volume from another pod: %s', async (_, fault) => {
    const all = await befall(everywhere(twoDisks, fault), ['n1', 'n1']);
    await Promise.all(
      all.map(async ({ trial }) => {
        for (const rival of rivals) await trial.ask(rival, [trial.name]);
        await placedSoon(trial, rivals);
      }),
    );
    await Promise.all(all.map(({ met }) => met?.deliver()));
    await thaw();
    expect(await problemsOf(all, { mayWait: rivals })).toEqual([]);
  });

  test('a pod with a new volume waits until the PV controller has seen the volume', async () => {
    const trial = await prepare(['n1']);
    await trial.schedule();
    await furnished([trial]);
    await freeze();
    // The PV controller must process these volumes before the new one, and processes claims in between.
    const others = Array.from({ length: 30 }, (_, position) => `${trial.name}-other-${position}`);
    await Promise.all(
      others.map((name) => makeDisk(cluster, name, { node: 'n2', storageClassName: 'others' })),
    );
    await trial.ask(pod, [madeClass, trial.name]);
    await placedSoon(trial, [pod]);
    await thaw();
    expect(await problemsOf([{ title: 'frozen all along', trial }])).toEqual([]);
  });

  async function placedSoon(trial: BindingTrial, names: readonly string[]): Promise<void> {
    const giveUpMs = Date.now() + aWhileMs;
    for (const name of names)
      await until(async () => Date.now() > giveUpMs || (await trial.isPlaced(name)), 50);
  }
});

/** The `$name` of a table shows only the beginning of the text, so the name is a column of its own. */
function named(all: readonly Fault[]): [string, Fault][] {
  return all.map((fault) => [fault.name, fault]);
}
