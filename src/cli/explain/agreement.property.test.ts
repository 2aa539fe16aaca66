/**
 * The explanation agrees with the scheduler, in random clusters. To try more of them, or others:
 *
 *     EXPLAIN_CLUSTERS=5000 EXPLAIN_SEED=mine npx vitest run src/cli/explain/agreement.property.test.ts
 */
import { expect, test } from 'vitest';
import { namespace } from '../../controllers/scheduler/testing/scheduler-fixture.ts';
import type { Pod } from '../../kube/api/core.ts';
import { pods } from '../../kube/resources.ts';
import { isReportedUnschedulable, reportedMessage } from '../../queries/explain/contradiction.ts';
import { explainPod } from '../../queries/explain/explain-pod.ts';
import type { PodExplanation } from '../../queries/explain/explanation.ts';
import { loadCluster } from '../source/load-cluster.ts';
import { exitCodeOf } from './run.ts';
import { RandomScheduling } from './testing/random-scheduling.ts';

const clusters = Number(process.env.EXPLAIN_CLUSTERS ?? 120);
const seed = process.env.EXPLAIN_SEED ?? 'explain';
const podsPerCluster = 2;
const clustersPerTest = 40;

async function explained({ fixture }: RandomScheduling, name: string): Promise<PodExplanation> {
  const options = { server: 'the test', source: 'the test', onProgress: () => {} };
  const view = await loadCluster(fixture.cluster, { namespace, name }, options);
  const { spec, ...stored } = view.snapshot.get('Pod', `${namespace}/${name}`)!;
  // The gate only keeps the scheduler from being faster than the test.
  const { schedulingGates: _, ...ungated } = spec ?? {};
  const pod = { ...stored, spec: ungated };
  view.snapshot.add('Pod', pod);
  return explainPod(view, pod, { nowMs: fixture.environment.clock.nowMs() });
}

/** The message of the scheduler that refused the pod; undefined if it has not. */
function refusalOf(pod: Pod): string | undefined {
  return isReportedUnschedulable(pod) ? reportedMessage(pod) : undefined;
}

/**
 * The scheduler refuses pods of equal shape together, as long as nothing has changed that could help them. The text is then that of the first
 * refusal, and nodes may have got worse since.
 */
async function sharesRefusal({ fixture }: RandomScheduling, name: string, refusal: string): Promise<boolean> {
  const { items } = await fixture.cluster.resource(pods).list();
  return items.some((pod) => pod.metadata?.name !== name && refusalOf(pod) === refusal);
}

type Outcome = 'refused' | 'placed' | 'waiting';

async function agree(scheduling: RandomScheduling): Promise<Outcome> {
  await scheduling.calmDown();
  const name = await scheduling.pod({ isGated: true });
  const before = await explained(scheduling, name);
  await scheduling.release(name);
  const pod = await scheduling.fixture.getPod(name);
  const after = await explained(scheduling, name);
  expect(after.contradiction).toBeUndefined();
  const refusal = refusalOf(pod);
  if (refusal !== undefined) {
    expect(before.verdict).toBe('refused');
    if (!(await sharesRefusal(scheduling, name, refusal)))
      expect(refusal.slice(0, before.message?.length)).toBe(before.message);
    expect([after.verdict, exitCodeOf(after)]).toEqual(['refused', 3]);
    return 'refused';
  }
  const nodeName = pod.spec?.nodeName;
  if (before.verdict === 'refused') {
    // The scheduler has refused the pod too, and then cancelled the binding of a pod with a lower priority.
    const [refused] = await scheduling.fixture.eventsOf(name);
    expect(refused).toContain(`FailedScheduling: ${before.message}`);
    return 'refused';
  }
  expect(exitCodeOf(before)).toBe(before.verdict === 'waiting' ? 3 : 0);
  expect(['fits', 'waiting']).toContain(before.verdict);
  if (nodeName === undefined) {
    expect([after.verdict, exitCodeOf(after)]).toEqual(['waiting', 3]);
    return 'waiting';
  }
  expect([after.verdict, nodeName]).toEqual(['placed', before.placement?.node]);
  return 'placed';
}

const starts = Array.from({ length: Math.ceil(clusters / clustersPerTest) }, (_, at) => at * clustersPerTest);

test.each(starts)('explain agrees with the scheduler, in clusters from %s', async (start) => {
  const outcomes = new Set<Outcome>();
  for (let at = start; at < Math.min(start + clustersPerTest, clusters); at += 1) {
    await using scheduling = await RandomScheduling.start(`${seed} ${at}`);
    try {
      for (let left = podsPerCluster; left > 0; left -= 1) outcomes.add(await agree(scheduling));
    } catch (error) {
      throw new Error(`cluster ${seed} ${at}: ${(error as Error).message}`, { cause: error });
    }
  }
  // The clusters must exercise every case, or the test proves little.
  if (starts.length > 1) expect([...outcomes].sort()).toEqual(['placed', 'refused', 'waiting']);
});
