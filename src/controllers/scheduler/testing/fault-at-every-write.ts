import { expect } from 'vitest';
import type { Cluster } from '../../../cluster/cluster.ts';
import {
  CrashAfterWrites,
  isObjectWrite,
  onlyFor,
  recordCalls,
} from '../../../cluster/testing/fault-hooks.ts';
import { type ClusterCall, InterceptedCluster } from '../../../cluster/testing/intercepted-cluster.ts';
import { failure } from '../../../kube/api-error.ts';
import { VirtualTimeCluster } from '../../testing/virtual-time-cluster.ts';
import type { SchedulerOptions } from '../scheduler.ts';
import { runController, runProvisioner, runScheduler, seedBinding } from './binding-fixture.ts';
import { FakeProvisioner } from './fake-provisioner.ts';
import { SchedulerFixture } from './scheduler-fixture.ts';

type Prepare = (fixture: SchedulerFixture) => Promise<void>;

/** `before`: the server refuses. `after`: it does what was asked, and its answer gets lost. */
export type FaultTime = 'before' | 'after';

/** Long enough for a back-off after an error. */
const settleMs = 20_000;

/**
 * Has the scheduler's first write fail and compares the end with that of a run in peace; then its second write, and so on. Answers
 * what was written in peace.
 */
export async function failAtEveryWrite(
  when: FaultTime,
  prepare: Prepare,
  options: SchedulerOptions = {},
): Promise<readonly ClusterCall[]> {
  const end = (failing: number) => endOf(prepare, { when, failing, options });
  const expected = await end(Number.POSITIVE_INFINITY);
  for (let position = 1; position <= expected.writes.length; position += 1) {
    const { verb, resource, name } = expected.writes[position - 1]!;
    expect(
      (await end(position)).lines,
      `after write ${position} failed: ${verb} ${resource.plural} ${name}`,
    ).toEqual(expected.lines);
  }
  return expected.writes;
}

/** The scheduler alone dies after each of its writes, while all others go on; another one comes a while later. */
export async function crashAfterEveryWrite(
  prepare: Prepare,
  options: SchedulerOptions = {},
): Promise<readonly ClusterCall[]> {
  const expected = await endOf(prepare, { when: 'before', failing: Number.POSITIVE_INFINITY, options });
  for (let writes = 1; writes <= expected.writes.length; writes += 1) {
    await using fixture = await peopled(prepare);
    const dying = runScheduler(
      fixture,
      options,
      new InterceptedCluster(fixture.cluster, new CrashAfterWrites(writes)),
    );
    await fixture.settle(5_000);
    await dying.close();
    runScheduler(fixture, options);
    await fixture.settle(settleMs);
    expect(await linesOf(fixture), `after death at write ${writes}`).toEqual(expected.lines);
  }
  return expected.writes;
}

interface Run {
  readonly when: FaultTime;
  /** The position of the write that fails. */
  readonly failing: number;
  readonly options: SchedulerOptions;
}

async function endOf(prepare: Prepare, { when, failing, options }: Run) {
  await using fixture = await peopled(prepare);
  const intercepted = new InterceptedCluster(fixture.cluster as Cluster);
  const writes = recordCalls(intercepted, isObjectWrite);
  let passed = 0;
  intercepted.addHooks(
    onlyFor(isObjectWrite, {
      [when]: () => {
        passed += 1;
        if (passed === failing) throw failure(500, 'InternalError', 'etcd is away');
      },
    }),
  );
  runScheduler(fixture, options, intercepted);
  await fixture.settle(settleMs);
  return { lines: await linesOf(fixture), writes: [...writes] };
}

/** All but the scheduler, with the work that waits for it. The PV controller is the business of `prepare`. */
async function peopled(prepare: Prepare): Promise<SchedulerFixture> {
  const fixture = new SchedulerFixture(await VirtualTimeCluster.start());
  await seedBinding(fixture);
  runController(fixture, 'protection');
  runProvisioner(fixture, new FakeProvisioner());
  await prepare(fixture);
  await fixture.settle();
  return fixture;
}

async function linesOf(fixture: SchedulerFixture): Promise<readonly string[]> {
  return (await fixture.lines()).map((line) => line.replace(/pvc-[0-9a-f-]{36}/, 'a new one')).sort();
}
