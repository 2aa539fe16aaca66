import type { ClusterChange } from '../../../engine/cluster-index/cluster-change.ts';
import type { HeapItem } from './heap.ts';

/** What the queue knows of a pod. */
export interface QueuedPod {
  /** `namespace/name`. */
  readonly key: string;
  readonly uid: string;
  readonly priority: number;
  /** It has scheduling gates: nobody may decide about it yet. */
  readonly isGated: boolean;
}

/**
 * What a refused pod waits for. It may be kept for hours, by thousands: hold little. Pods that were refused alike may share
 * one, and are then woken together.
 */
export interface WakeCondition {
  /** Could this change make it fit? Asked for each change, so it has to be cheap; rather yes in vain than no wrongly. */
  wokenBy(change: ClusterChange): boolean;
  /** Look again at this time of the wall clock, even if nothing happens until then. */
  readonly retryAtMs?: number | undefined;
}

/**
 * Why a pod is looked at: it is `new`; an `event` or an `update` of its own could have helped; its time to `retry` came; its
 * `backoff` ended, after an error or a failed binding, with nothing else having happened; or the `sweep` found that it has
 * waited for very long. A pod that is placed after a sweep should have been woken before: that is worth counting.
 */
export type AttemptCause = 'new' | 'event' | 'update' | 'retry' | 'backoff' | 'sweep';

/** A pod that is in the hands of the scheduler; the object itself is the receipt by which its end is told. */
export interface SchedulingAttempt {
  /** As it was when it was taken. */
  readonly pod: QueuedPod;
  /** 1 for the first. */
  readonly number: number;
  readonly cause: AttemptCause;
  /** Monotonic time at which it first could have been taken; time behind gates doesn't count. */
  readonly queuedMs: number;
}

/** Where a pod can be; it is in one place at any time. */
export interface QueueState {
  readonly size: number;
  add(entry: QueueEntry): unknown;
  delete(entry: QueueEntry): unknown;
}

/** A pod with its history, from its first `put` to its removal. */
export interface QueueEntry extends HeapItem {
  pod: QueuedPod;
  state: QueueState;
  /** Of its first `put`, or its last failure: among equals the smaller one is first. */
  order: number;
  cause: AttemptCause;
  queuedMs: number | undefined;
  attempts: number;
  refusals: number;
  /** In a row. Above 0, the last failure was an error. */
  errors: number;
  backOffEndMs: number;
  /** The receipt of the last attempt. */
  attempt: SchedulingAttempt | undefined;
  /** While it is in flight: an update came that could help. */
  wasUpdated: boolean;
  wakeCondition: WakeCondition | undefined;
  /** While it waits: when it is looked at again in any case, and why then. */
  dueMs: number;
  dueCause: 'retry' | 'sweep';
}

export function isBefore(a: QueueEntry, b: QueueEntry): boolean {
  return a.pod.priority === b.pod.priority ? a.order < b.order : a.pod.priority > b.pod.priority;
}

/** Those whose back-off ends within the same second come in the order of {@link isBefore}. */
export function endsBefore(a: QueueEntry, b: QueueEntry): boolean {
  return a.backOffEndMs === b.backOffEndMs ? isBefore(a, b) : a.backOffEndMs < b.backOffEndMs;
}

export function isDueBefore(a: QueueEntry, b: QueueEntry): boolean {
  return a.dueMs < b.dueMs;
}
