import type { ContainerStatus, Pod } from '../../../../kube/api/core.ts';
import { parseTimestamp } from '../../../../kube/go/timestamp.ts';
import { controllerOf } from '../../../../kube/owner-references.ts';
import { isFinished } from '../../../../kube/pods.ts';
import { annotations } from '../../../../kube/well-known.ts';
import { doublingDelayMs } from '../../../../runtime/keyed-back-off.ts';
import { nextProbeMs } from './probes.ts';

/** The next step for a pod on a simulated node. */
export type PodLifecycleStep =
  /** It has finished, or only finalizers hold it. */
  | { readonly kind: 'nothing' }
  /** It does not run yet; check again when its deadline is over. */
  | { readonly kind: 'start'; readonly untilMs: number | undefined }
  /** It runs; check again when its run time or its deadline is over, or a probe succeeds. */
  | { readonly kind: 'keep'; readonly untilMs: number | undefined }
  /** Its containers have ended. */
  | { readonly kind: 'finish'; readonly exitCode: number }
  /** Its containers have failed, and are restarted after a back-off. */
  | { readonly kind: 'back-off'; readonly exitCode: number }
  | { readonly kind: 'restart'; readonly exitCode: number }
  /** Its active deadline is over. */
  | { readonly kind: 'expire' }
  /** It was deleted, and its containers take some time to end. */
  | { readonly kind: 'wait'; readonly untilMs: number }
  /** Nothing is left of it on the node: the object may be removed. */
  | { readonly kind: 'remove' };

/** How long containers of a Job run if the pod does not say: a Job whose pods never end would never complete. */
const jobRunSeconds = 1;

/** A kubelet restarts a container immediately for the first time, then after 10 s, and twice as long each time. */
const restartDelay = { initialMs: 10_000, maxMs: 300_000 };

/** The reason of containers that wait for their restart. */
export const backOffReason = 'CrashLoopBackOff';

export function nextLifecycleStep(pod: Pod, nowMs: number): PodLifecycleStep {
  const deletedMs = parseTimestamp(pod.metadata?.deletionTimestamp);
  if (deletedMs !== undefined) return ending(pod, deletedMs, nowMs);
  if (isFinished(pod)) return { kind: 'nothing' };
  const deadlineMs = activeDeadlineMs(pod);
  if (deadlineMs !== undefined && deadlineMs <= nowMs) return { kind: 'expire' };
  if (pod.status?.phase !== 'Running') return { kind: 'start', untilMs: deadlineMs };
  const step = runningStep(pod, nowMs);
  if (step.kind !== 'keep') return step;
  return { kind: 'keep', untilMs: soonest(step.untilMs, deadlineMs, nextProbeMs(pod, nowMs)) };
}

/** Whether the node still has its volumes. */
export function holdsVolumes(pod: Pod): boolean {
  const isRemoved =
    pod.metadata?.deletionTimestamp !== undefined && pod.metadata.deletionGracePeriodSeconds === 0;
  return (pod.spec?.nodeName ?? '') !== '' && !isFinished(pod) && !isRemoved;
}

/**
 * Whether its volumes must stay published: it runs, or is about to. A pod that was deleted before it ran does not start any more, and its
 * object stays until its volumes are unpublished.
 */
export function needsVolumes(pod: Pod): boolean {
  const isEnding = pod.metadata?.deletionTimestamp !== undefined && pod.status?.phase !== 'Running';
  return holdsVolumes(pod) && !isEnding;
}

/**
 * The server sets the deletion timestamp to the end of the grace period. Simulated containers end immediately when they get the signal,
 * unless the pod says how long they take; the grace period is the limit. A pod that never ran needs no time.
 */
function ending(pod: Pod, deletedMs: number, nowMs: number): PodLifecycleStep {
  const { deletionGracePeriodSeconds: graceSeconds = 0 } = pod.metadata ?? {};
  const isRunning = pod.status?.phase === 'Running';
  const signalledMs = deletedMs - Number(graceSeconds) * 1000;
  const endMs = Math.min(
    deletedMs,
    signalledMs + (secondsIn(pod, annotations.terminationSeconds) ?? 0) * 1000,
  );
  if (isRunning && nowMs < endMs) return { kind: 'wait', untilMs: endMs };
  if (isRunning) return { kind: 'finish', exitCode: 0 };
  // Without grace the server has already done its part; finalizers do the rest.
  return graceSeconds === 0 ? { kind: 'nothing' } : { kind: 'remove' };
}

function activeDeadlineMs({ spec, status }: Pod): number | undefined {
  const startedMs = parseTimestamp(status?.startTime);
  if (spec?.activeDeadlineSeconds === undefined || startedMs === undefined) return undefined;
  return startedMs + Number(spec.activeDeadlineSeconds) * 1000;
}

function runningStep(pod: Pod, nowMs: number): PodLifecycleStep {
  const restartPolicy = pod.spec?.restartPolicy ?? 'Always';
  const seconds = restartPolicy === 'Always' ? undefined : runSecondsOf(pod);
  if (seconds === undefined) return { kind: 'keep', untilMs: undefined };
  const exitCode = exitCodeOf(pod);
  const container = pod.status?.containerStatuses?.[0];
  const restartMs = restartTimeMs(container);
  if (restartMs !== undefined)
    return restartMs <= nowMs ? { kind: 'restart', exitCode } : { kind: 'keep', untilMs: restartMs };
  const startedMs = parseTimestamp(container?.state?.running?.startedAt ?? pod.status?.startTime);
  const finishMs = startedMs === undefined ? undefined : startedMs + seconds * 1000;
  if (finishMs === undefined || finishMs > nowMs) return { kind: 'keep', untilMs: finishMs };
  if (exitCode === 0 || restartPolicy === 'Never') return { kind: 'finish', exitCode };
  return { kind: (container?.restartCount ?? 0) === 0 ? 'restart' : 'back-off', exitCode };
}

/** When a container that has failed is restarted; undefined if it does not wait for that. */
function restartTimeMs(container: ContainerStatus | undefined): number | undefined {
  if (container?.state?.waiting?.reason !== backOffReason) return undefined;
  const failedMs = parseTimestamp(container.lastState?.terminated?.finishedAt) ?? 0;
  const restarts = container.restartCount ?? 0;
  return failedMs + doublingDelayMs(Math.max(1, restarts), restartDelay);
}

/** Pods keep running unless they say how long they run, or a Job controls them. */
function runSecondsOf(pod: Pod): number | undefined {
  return (
    secondsIn(pod, annotations.runSeconds) ?? (controllerOf(pod)?.kind === 'Job' ? jobRunSeconds : undefined)
  );
}

function exitCodeOf({ metadata }: Pod): number {
  const text = metadata?.annotations?.[annotations.exitCode] ?? '0';
  return /^\d{1,3}$/.test(text) ? Number(text) : 0;
}

function secondsIn({ metadata }: Pod, annotation: string): number | undefined {
  const text = metadata?.annotations?.[annotation];
  return text === undefined || !/^\d{1,9}$/.test(text) ? undefined : Number(text);
}

function soonest(...times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
