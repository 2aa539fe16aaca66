import type { Log } from '../../runtime/log.ts';
import type { SchedulingAttempt } from './queue/queued-pod.ts';
import type { AttemptResult } from './scheduler-metrics.ts';

export interface LoggedDecision {
  readonly result: AttemptResult;
  /** Where it goes; undefined where it was refused. */
  readonly node: string | undefined;
  /** Why it goes nowhere; empty where it does. */
  readonly message: string;
  readonly seconds: number;
}

/** One line for each decision, at `debug`: an installation that schedules thousands of pods a minute does not want them. */
export function logDecision(
  log: Log,
  taken: SchedulingAttempt,
  { result, node, message, seconds }: LoggedDecision,
): void {
  if (!log.writes('debug')) return;
  log.debug('decided', {
    ...attempted(taken),
    result,
    ...(node === undefined ? {} : { node }),
    ...(message === '' ? {} : { why: message }),
    durationMs: milliseconds(seconds * 1000),
  });
}

/** How what was decided came out. */
export function logBinding(
  log: Log,
  taken: SchedulingAttempt,
  node: string,
  durationMs: number,
  error?: unknown,
): void {
  if (!log.writes('debug')) return;
  const fields = { ...attempted(taken), node, durationMs: milliseconds(durationMs) };
  if (error === undefined) log.debug('bound', fields);
  else log.debug('binding failed', { ...fields, error });
}

/** All lines about one attempt have the same `trace`: the uid of the pod, and which attempt it is in this process. */
function attempted({ pod, number: attempt, cause }: SchedulingAttempt) {
  return { pod: pod.key, attempt, cause, trace: `${pod.uid}/${attempt}` };
}

function milliseconds(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
