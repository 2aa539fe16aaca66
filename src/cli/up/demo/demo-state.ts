import type { Cluster } from '../../../cluster/cluster.ts';
import type { Pod } from '../../../kube/api/core.ts';
import { getCondition } from '../../../kube/conditions.ts';
import { deployments, pods, statefulSets } from '../../../kube/resources.ts';
import type { Clock } from '../../../runtime/clock.ts';

const namespace = 'demo';
const lookEveryMs = 100;

/** The progress of the demo. */
export interface DemoState {
  readonly running: number;
  /** Pods that fit nowhere, and whose condition says why. */
  readonly waiting: number;
  /** True if every pod runs or is unschedulable, so that nothing more will happen. */
  readonly isSettled: boolean;
}

/** Polls until the state is final, `maxMs` have passed, or `signal` aborts. */
export async function untilDemoSettled(
  cluster: Cluster,
  clock: Clock,
  maxMs: number,
  signal: AbortSignal,
): Promise<DemoState> {
  const endMs = clock.monotonicMs() + maxMs;
  for (;;) {
    const state = await demoState(cluster);
    if (state.isSettled || signal.aborted || clock.monotonicMs() >= endMs) return state;
    await clock.sleep(lookEveryMs, signal);
  }
}

async function demoState(cluster: Cluster): Promise<DemoState> {
  const { items } = await cluster.resource(pods).list({ namespace });
  const running = items.filter(({ status }) => status?.phase === 'Running').length;
  const waiting = items.filter(isRefused).length;
  const isSettled = running + waiting === items.length && items.length > 0 && (await areComplete(cluster));
  return { running, waiting, isSettled };
}

function isRefused({ status }: Pod): boolean {
  return getCondition(status?.conditions, 'PodScheduled')?.status === 'False';
}

/** True if every set has all of its pods, running or not. */
async function areComplete(cluster: Cluster): Promise<boolean> {
  const sets = await cluster.resource(statefulSets).list({ namespace });
  const others = await cluster.resource(deployments).list({ namespace });
  return [...sets.items, ...others.items].every(
    ({ spec, status }) => (status?.replicas ?? 0) >= (spec?.replicas ?? 1),
  );
}
