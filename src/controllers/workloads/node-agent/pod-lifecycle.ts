import type { Pod } from '../../../kube/api/core.ts';
import { parseTimestamp } from '../../../kube/go/timestamp.ts';
import { isFinished } from '../../../kube/pods.ts';
import { annotations } from '../../../kube/well-known.ts';

/** The next step for a pod on a simulated node. */
export type PodLifecycleStep =
  /** It has finished, or only finalizers hold it. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'start' }
  /** It runs; check again when its run time is over. */
  | { readonly kind: 'keep'; readonly finishMs: number | undefined }
  /** Its containers have ended. */
  | { readonly kind: 'finish' }
  /** It was deleted and its grace period is not over. */
  | { readonly kind: 'wait'; readonly untilMs: number }
  /** Nothing is left of it on the node: the object may be removed. */
  | { readonly kind: 'remove' };

export function nextLifecycleStep(pod: Pod, nowMs: number): PodLifecycleStep {
  const deletedMs = parseTimestamp(pod.metadata?.deletionTimestamp);
  if (deletedMs !== undefined) return ending(pod, deletedMs, nowMs);
  if (isFinished(pod)) return { kind: 'nothing' };
  if (pod.status?.phase !== 'Running') return { kind: 'start' };
  const finishMs = finishTimeMs(pod);
  return finishMs !== undefined && finishMs <= nowMs ? { kind: 'finish' } : { kind: 'keep', finishMs };
}

/** Whether the node still has its volumes. */
export function holdsVolumes(pod: Pod): boolean {
  const isRemoved =
    pod.metadata?.deletionTimestamp !== undefined && pod.metadata.deletionGracePeriodSeconds === 0;
  return (pod.spec?.nodeName ?? '') !== '' && !isFinished(pod) && !isRemoved;
}

/** The server sets the deletion timestamp to the end of the grace period. A pod that never ran needs none. */
function ending(pod: Pod, deletedMs: number, nowMs: number): PodLifecycleStep {
  const isRunning = pod.status?.phase === 'Running';
  if (isRunning && nowMs < deletedMs) return { kind: 'wait', untilMs: deletedMs };
  if (isRunning) return { kind: 'finish' };
  // Without grace the server has already done its part; finalizers do the rest.
  return pod.metadata?.deletionGracePeriodSeconds === 0 ? { kind: 'nothing' } : { kind: 'remove' };
}

function finishTimeMs({ metadata, spec, status }: Pod): number | undefined {
  if ((spec?.restartPolicy ?? 'Always') === 'Always') return undefined;
  const text = metadata?.annotations?.[annotations.runSeconds];
  if (text === undefined || !/^\d{1,9}$/.test(text)) return undefined;
  const startedAt = status?.containerStatuses?.[0]?.state?.running?.startedAt;
  const startedMs = parseTimestamp(startedAt ?? status?.startTime);
  return startedMs === undefined ? undefined : startedMs + Number(text) * 1000;
}
