import type { ContainerStatus, Pod } from '../../../../kube/api/core.ts';
import { parseTimestamp } from '../../../../kube/go/timestamp.ts';
import type { Clock } from '../../../../runtime/clock.ts';
import { SeenSince } from '../../../../runtime/seen-since.ts';

/**
 * The current time for a pod: not earlier than the times that are written in it. A clock that was set back by minutes, or is behind that of
 * another agent or of the API server, would otherwise take a running pod for one that has not started, and take minutes to end it. From the
 * latest time that is written, the time of the pod goes on at the pace of this process.
 */
export class PodTime {
  readonly #clock: Clock;
  readonly #latest: SeenSince<number>;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#latest = new SeenSince(clock);
  }

  nowMs(pod: Pod): number {
    const latestMs = latestTimeMs(pod);
    return Math.max(this.#clock.nowMs(), latestMs + this.#latest.ageMs(pod.metadata?.uid ?? '', latestMs));
  }

  forget({ metadata }: Pod): void {
    this.#latest.delete(metadata?.uid ?? '');
  }
}

/** When it was deleted, or started, or when the last container started or ended, whichever is latest. */
function latestTimeMs({ metadata, status }: Pod): number {
  const endMs = parseTimestamp(metadata?.deletionTimestamp);
  const graceMs = Number(metadata?.deletionGracePeriodSeconds ?? 0) * 1000;
  const containers = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  const times = [status?.startTime, ...containers.flatMap(timesOf)].map((time) => parseTimestamp(time) ?? 0);
  return Math.max(endMs === undefined ? 0 : endMs - graceMs, ...times);
}

function timesOf({ state, lastState }: ContainerStatus): readonly (string | null | undefined)[] {
  return [state?.running?.startedAt, state?.terminated?.finishedAt, lastState?.terminated?.finishedAt];
}
