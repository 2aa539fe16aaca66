import type { ClusterChange } from '../../../engine/cluster-index/cluster-change.ts';
import type { HeapItem } from './heap.ts';

/** A pod as the queue knows it. */
export interface QueuedPod {
  /** `namespace/name`. */
  readonly key: string;
  readonly uid: string;
  readonly priority: number;
  /** It has scheduling gates, so it must not be scheduled yet. */
  readonly isGated: boolean;
}

/**
 * The changes that a refused pod waits for. Thousands of these may be kept for hours, so they must be small. Pods with the same refusal may share one,
 * and are then woken together.
 */
export interface WakeCondition {
  /** Whether the change could make the pod fit. Called for each change, so it must be cheap. It must never return false wrongly. */
  wokenBy(change: ClusterChange): boolean;
  /** Schedule again at this wall-clock time, even if nothing changes until then. */
  readonly retryAtMs?: number | undefined;
}

/**
 * Why a pod is scheduled: it is `new`; an `event` or an `update` of the pod itself could have helped; its time to `retry` has come; its
 * `backoff` has ended, after an error or a failed binding, without any other cause; or the `sweep` has found that it has waited for very
 * long. A pod that is placed after a sweep should have been woken before, so a metric counts these.
 */
export type AttemptCause = 'new' | 'event' | 'update' | 'retry' | 'backoff' | 'sweep';

/** One attempt to schedule a pod. The caller passes this very object back to report how the attempt ended. */
export interface SchedulingAttempt {
  /** The pod as it was when it was taken from the queue. */
  readonly pod: QueuedPod;
  /** 1 for the pod's first attempt. */
  readonly number: number;
  readonly cause: AttemptCause;
  /** Monotonic time at which the pod could first have been taken. Time with scheduling gates does not count. */
  readonly queuedMs: number;
}

/** The state of a pod in the queue; it is in exactly one at any time. */
export interface QueueState {
  readonly size: number;
  add(entry: QueueEntry): unknown;
  delete(entry: QueueEntry): unknown;
}

/** A pod with its history, from its first `addOrUpdate` to its removal. */
export interface QueueEntry extends HeapItem {
  pod: QueuedPod;
  state: QueueState;
  /** Sequence number of its first `addOrUpdate`, or of its last failure. Of pods with equal priority the smaller one is first. */
  order: number;
  cause: AttemptCause;
  queuedMs: number | undefined;
  attempts: number;
  refusals: number;
  /** Errors in a row. If above 0, the last failure was an error. */
  errors: number;
  backOffEndMs: number;
  /** The last attempt. */
  attempt: SchedulingAttempt | undefined;
  /** While the pod is in flight: an update came that could help. */
  wasUpdated: boolean;
  wakeCondition: WakeCondition | undefined;
  /** While the pod is unschedulable: when it is scheduled again in any case, and for which cause. */
  dueMs: number;
  dueCause: 'retry' | 'sweep';
}

export function isBefore(a: QueueEntry, b: QueueEntry): boolean {
  return a.pod.priority === b.pod.priority ? a.order < b.order : a.pod.priority > b.pod.priority;
}

/** Back-offs that end in the same second are in the order of {@link isBefore}. */
export function endsBefore(a: QueueEntry, b: QueueEntry): boolean {
  return a.backOffEndMs === b.backOffEndMs ? isBefore(a, b) : a.backOffEndMs < b.backOffEndMs;
}

export function isDueBefore(a: QueueEntry, b: QueueEntry): boolean {
  return a.dueMs < b.dueMs;
}
