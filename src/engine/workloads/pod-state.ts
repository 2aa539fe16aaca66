import type { Pod } from '../../kube/api/core.ts';
import { getCondition } from '../../kube/conditions.ts';
import { parseTimestamp } from '../../kube/go/timestamp.ts';
import { isFinished } from '../../kube/pods.ts';

export function isReady(pod: Pod): boolean {
  return getCondition(pod.status?.conditions, 'Ready')?.status === 'True';
}

/** Since when the pod is ready; undefined if it is not, or if the time was not recorded. */
export function readySinceMs(pod: Pod): number | undefined {
  const ready = getCondition(pod.status?.conditions, 'Ready');
  return ready?.status === 'True' ? parseTimestamp(ready.lastTransitionTime) : undefined;
}

/** Ready for at least `minReadySeconds`. */
export function isAvailable(pod: Pod, minReadySeconds: number, nowMs: number): boolean {
  if (!isReady(pod)) return false;
  return minReadySeconds === 0 || untilAvailableMs(pod, minReadySeconds, nowMs) === 0;
}

/** How long until the pod is available if it stays ready: 0 if it is, undefined if it is not ready. */
function untilAvailableMs(pod: Pod, minReadySeconds: number, nowMs: number): number | undefined {
  const sinceMs = readySinceMs(pod);
  return sinceMs === undefined ? undefined : Math.max(0, sinceMs + minReadySeconds * 1000 - nowMs);
}

/** When the next of these pods becomes available; undefined if none will. */
export function nextAvailableMs(
  pods: readonly Pod[],
  minReadySeconds: number,
  nowMs: number,
): number | undefined {
  let soonest: number | undefined;
  for (const pod of pods) {
    const wait = isReady(pod) ? untilAvailableMs(pod, minReadySeconds, nowMs) : undefined;
    if (wait !== undefined && wait > 0) soonest = Math.min(soonest ?? wait, wait);
  }
  return soonest;
}

export function isTerminating({ metadata }: Pod): boolean {
  return metadata?.deletionTimestamp !== undefined;
}

/** Counts as a replica: neither finished nor terminating. */
export function isActive(pod: Pod): boolean {
  return !isFinished(pod) && !isTerminating(pod);
}
