import type { Pod } from '../../../kube/api/core.ts';
import { parseTimestamp } from '../../../kube/go/timestamp.ts';
import { isFinished } from '../../../kube/pods.ts';
import { annotations } from '../../../kube/well-known.ts';

/** What is to be done about a pod on a simulated node. */
export type PodLifecycleStep =
  /** It is over, or held by others. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'start' }
  /** It runs; look again when its time has come. */
  | { readonly kind: 'keep'; readonly finishMs: number | undefined }
  /** Its containers have ended. */
  | { readonly kind: 'finish' }
  /** It was deleted and still has time. */
  | { readonly kind: 'wait'; readonly untilMs: number }
  /** Nothing is left of it on the node: the object may go. */
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

/** The server sets the time of deletion to when the grace ends. A pod that never ran needs none. */
function ending(pod: Pod, deletedMs: number, nowMs: number): PodLifecycleStep {
  const isRunning = pod.status?.phase === 'Running';
  if (isRunning && nowMs < deletedMs) return { kind: 'wait', untilMs: deletedMs };
  if (isRunning) return { kind: 'finish' };
  // Without grace the server has done its part, and finalizers do theirs.
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
