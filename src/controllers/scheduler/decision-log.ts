import type { Log } from '../../runtime/log.ts';
import type { SchedulingAttempt } from './queue/queued-pod.ts';
import type { AttemptResult } from './scheduler-metrics.ts';

export interface LoggedDecision {
  readonly result: AttemptResult;
  /** Undefined if the pod was refused. */
  readonly node: string | undefined;
  /** Why the pod was refused; empty if it was not. */
  readonly message: string;
  readonly seconds: number;
}

/** Logs one line for each decision, at `debug`: they are too many for a cluster that schedules thousands of pods a minute. */
export function logDecision(
  log: Log,
  attempt: SchedulingAttempt,
  { result, node, message, seconds }: LoggedDecision,
): void {
  if (!log.writes('debug')) return;
  log.debug('decided', {
    ...attemptFields(attempt),
    result,
    ...(node === undefined ? {} : { node }),
    ...(message === '' ? {} : { why: message }),
    durationMs: milliseconds(seconds * 1000),
  });
}

/** Logs how the binding of a decision ended. */
export function logBinding(
  log: Log,
  attempt: SchedulingAttempt,
  node: string,
  durationMs: number,
  error?: unknown,
): void {
  if (!log.writes('debug')) return;
  const fields = { ...attemptFields(attempt), node, durationMs: milliseconds(durationMs) };
  if (error === undefined) log.debug('bound', fields);
  else log.debug('binding failed', { ...fields, error });
}

/** All lines about one attempt have the same `trace`: the pod's uid, and the number of the attempt in this process. */
function attemptFields({ pod, number, cause }: SchedulingAttempt) {
  return { pod: pod.key, attempt: number, cause, trace: `${pod.uid}/${number}` };
}

function milliseconds(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
