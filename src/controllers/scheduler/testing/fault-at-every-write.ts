import { expect } from 'vitest';
import type { Cluster } from '../../../cluster/cluster.ts';
import { type ClusterCall, InterceptedCluster } from '../../../cluster/intercepted-cluster.ts';
import {
  CrashAfterWrites,
  isObjectWrite,
  onlyFor,
  recordCalls,
} from '../../../cluster/testing/fault-hooks.ts';
import { failure } from '../../../kube/api-error.ts';
import { VirtualTimeCluster } from '../../testing/virtual-time-cluster.ts';
import type { SchedulerControllerSettings } from '../scheduler.ts';
import { runController, runProvisioner, runScheduler, seedBinding } from './binding-fixture.ts';
import { FakeProvisioner } from './fake-provisioner.ts';
import { SchedulerFixture } from './scheduler-fixture.ts';

type Prepare = (fixture: SchedulerFixture) => Promise<void>;

/** `before`: the write does not reach the server. `after`: the write takes effect, and its response is lost. */
export type FaultTime = 'before' | 'after';

/** Long enough for a back-off after an error. */
const settleMs = 20_000;

/**
 * Lets the scheduler's first write fail and compares the final state with that of a run without faults; then its second write, and so on.
 * Returns the writes of the run without faults.
 */
export async function failAtEveryWrite(
  when: FaultTime,
  prepare: Prepare,
  options: SchedulerControllerSettings = {},
): Promise<readonly ClusterCall[]> {
  const run = (failing: number) => resultOf(prepare, { when, failing, options });
  const expected = await run(Number.POSITIVE_INFINITY);
  for (let position = 1; position <= expected.writes.length; position += 1) {
    const { verb, resource, name } = expected.writes[position - 1]!;
    expect(
      (await run(position)).summary,
      `after write ${position} failed: ${verb} ${resource.plural} ${name}`,
    ).toEqual(expected.summary);
  }
  return expected.writes;
}

/** The scheduler crashes after each of its writes, while all other controllers keep running; another scheduler starts later. */
export async function crashAfterEveryWrite(
  prepare: Prepare,
  options: SchedulerControllerSettings = {},
): Promise<readonly ClusterCall[]> {
  const expected = await resultOf(prepare, { when: 'before', failing: Number.POSITIVE_INFINITY, options });
  for (let writes = 1; writes <= expected.writes.length; writes += 1) {
    await using fixture = await startWithoutScheduler(prepare);
    const crashing = runScheduler(
      fixture,
      options,
      new InterceptedCluster(fixture.cluster, new CrashAfterWrites(writes)),
    );
    await fixture.settle(5_000);
    await crashing.close();
    runScheduler(fixture, options);
    await fixture.settle(settleMs);
    expect(await summaryOf(fixture), `after a crash at write ${writes}`).toEqual(expected.summary);
  }
  return expected.writes;
}

interface FaultyRun {
  readonly when: FaultTime;
  /** The position of the write that fails. */
  readonly failing: number;
  readonly options: SchedulerControllerSettings;
}

async function resultOf(prepare: Prepare, { when, failing, options }: FaultyRun) {
  await using fixture = await startWithoutScheduler(prepare);
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
  return { summary: await summaryOf(fixture), writes: [...writes] };
}

/** Everything except the scheduler, with work that waits for it. `prepare` starts the PV controller if it needs one. */
async function startWithoutScheduler(prepare: Prepare): Promise<SchedulerFixture> {
  const fixture = new SchedulerFixture(await VirtualTimeCluster.start());
  await seedBinding(fixture);
  runController(fixture, 'protection');
  runProvisioner(fixture, new FakeProvisioner());
  await prepare(fixture);
  await fixture.settle();
  return fixture;
}

async function summaryOf(fixture: SchedulerFixture): Promise<readonly string[]> {
  return (await fixture.summary()).map((line) => line.replace(/pvc-[0-9a-f-]{36}/, 'a new one')).sort();
}
