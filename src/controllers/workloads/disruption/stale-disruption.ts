import { isTerminating } from '../../../engine/workloads/pod-state.ts';
import type { Pod, PodCondition } from '../../../kube/api/core.ts';
import { parseTimestamp } from '../../../kube/go/timestamp.ts';
import { isFinished } from '../../../kube/pods.ts';

/** A component that announces the disruption of a pod has this long to do it. */
const staleAfterMs = 2 * 60_000;

/** How long the announcement of a disruption stays valid; undefined if there is none, or the pod is terminating. */
export function untilStaleMs(pod: Pod, nowMs: number): number | undefined {
  const target = pod.status?.conditions?.find(isTarget);
  if (target?.status !== 'True' || target.reason === 'TerminationByKubelet') return undefined;
  if (isTerminating(pod) || isFinished(pod)) return undefined;
  return Math.max(0, (parseTimestamp(target.lastTransitionTime) ?? 0) + staleAfterMs - nowMs);
}

/** The conditions without the announcement. */
export function withoutDisruptionTarget({ status }: Pod, now: string): readonly PodCondition[] {
  return (status?.conditions ?? []).map((condition) =>
    isTarget(condition) ? { type: 'DisruptionTarget', status: 'False', lastTransitionTime: now } : condition,
  );
}

function isTarget({ type }: PodCondition): boolean {
  return type === 'DisruptionTarget';
}
