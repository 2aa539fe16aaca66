import { parseTimestamp } from '../../kube/go/timestamp.ts';
import type { PodRecord } from '../records/pod-record.ts';

/** The most important first: by priority, then the longest running, then by name. */
export function byImportance(pods: readonly PodRecord[], nowMs: number): PodRecord[] {
  return [...pods].sort(
    (a, b) => b.priority - a.priority || startMs(a, nowMs) - startMs(b, nowMs) || (a.key < b.key ? -1 : 1),
  );
}

/** A pod that has not started counts as starting now. */
export function startMs({ startTime }: PodRecord, nowMs: number): number {
  return parseTimestamp(startTime) ?? nowMs;
}
