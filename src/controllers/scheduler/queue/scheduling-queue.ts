import type { ClusterChange } from '../../../engine/cluster-index/cluster-change.ts';
import { onAbort } from '../../../runtime/abort.ts';
import { assert } from '../../../runtime/assert.ts';
import type { Clock, Timer } from '../../../runtime/clock.ts';
import type { DoublingDelay } from '../../../runtime/keyed-back-off.ts';
import { backOffEndMs } from './back-off.ts';
import { Heap } from './heap.ts';
import { InFlightPods } from './in-flight-pods.ts';
import {
  type AttemptCause,
  endsBefore,
  isBefore,
  type QueuedPod,
  type QueueEntry,
  type QueueState,
  type SchedulingAttempt,
  type WakeCondition,
} from './queued-pod.ts';
import { UnschedulablePods } from './unschedulable-pods.ts';

export interface SchedulingQueueOptions {
  readonly backOff: DoublingDelay;
  /** A refused pod that has waited longer is scheduled again, whatever it waits for. */
  readonly waitingMaxMs: number;
  /** How often the sweep looks for these pods. */
  readonly sweepMs: number;
}

const defaults: SchedulingQueueOptions = {
  backOff: { initialMs: 1_000, maxMs: 10_000 },
  waitingMaxMs: 5 * 60_000,
  sweepMs: 30_000,
};

/** Pods by state. `backoff` includes pods that back off after errors. */
export interface SchedulingQueueCounts {
  readonly active: number;
  readonly backoff: number;
  readonly unschedulable: number;
  readonly gated: number;
  readonly inFlight: number;
  readonly decided: number;
  /** The number of changes, not pods, that are logged for the pods in flight. */
  readonly loggedChanges: number;
}

/**
 * The pods that need a node, from the time they are first seen until they have one, in the order in which they are scheduled. No order
 * of calls loses a pod or a wake-up.
 *
 * 1. `addOrUpdate` adds a pod without a node, `remove` removes one that has a node or was deleted. Both may be called at any time, and
 *    repeated. The uid identifies the pod: a pod with the same key and another uid replaces it.
 * 2. `take` returns the next pod: highest priority first, then the one that has been queued longest. If there is none, it takes a pod that
 *    backs off after a refusal, but never one that backs off after an error. From then on the pod is in flight.
 * 3. The caller of `take` reports once how the attempt ended: `refused`, with what the pod waits for now; `failed`, if the decision itself
 *    failed; or `done`, as soon as a node is reserved for the pod. Changes since `take` (or since `startDeciding`) count as if they came afterwards.
 * 4. A pod that is `done` stays known until `remove`, so that updates do not queue it again. If its binding fails, `requeue` brings it back.
 *    Changes during the binding were not recorded, so the pod only backs off and does not wait for a change.
 * 5. If what had to follow a refusal failed, such as evicting victims or removing a nomination, `retry` brings the pod back.
 * 6. `observe` must be called with every change of the index. It moves the pods that the change wakes.
 *
 * Reporting an attempt does nothing if its pod was removed or replaced meanwhile, or if the attempt was reported already.
 *
 * Time: pods that have become due are moved when the queue is accessed. A timer runs only while a `take` is waiting.
 */
export class SchedulingQueue {
  readonly #clock: Clock;
  readonly #options: SchedulingQueueOptions;
  readonly #entries = new Map<string, QueueEntry>();
  readonly #active = new Heap<QueueEntry>(isBefore);
  readonly #refusalBackOff = new Heap<QueueEntry>(endsBefore);
  readonly #errorBackOff = new Heap<QueueEntry>(endsBefore);
  readonly #unschedulable = new UnschedulablePods();
  readonly #gated = new Set<QueueEntry>();
  readonly #inFlight = new InFlightPods<QueueEntry>();
  readonly #decided = new Set<QueueEntry>();
  /** Pods that the sweep has moved and that were not taken yet. If a change wakes one of them, its cause becomes `event`. */
  readonly #swept = new Set<QueueEntry>();
  readonly #takers = new Set<(attempt: SchedulingAttempt | undefined) => void>();
  #timer: { readonly dueMs: number; readonly handle: Timer } | undefined;
  #lastOrder = 0;
  #isClosed = false;

  constructor(clock: Clock, options: Partial<SchedulingQueueOptions> = {}) {
    this.#clock = clock;
    this.#options = { ...defaults, ...options };
  }

  get counts(): SchedulingQueueCounts {
    this.#moveDue();
    return {
      active: this.#active.size,
      backoff: this.#refusalBackOff.size + this.#errorBackOff.size,
      unschedulable: this.#unschedulable.size,
      gated: this.#gated.size,
      inFlight: this.#inFlight.size,
      decided: this.#decided.size,
      loggedChanges: this.#inFlight.loggedChanges,
    };
  }

  /** `mayHelp`: whether the update could make the pod fit if it was refused. */
  addOrUpdate(pod: QueuedPod, { mayHelp = true }: { readonly mayHelp?: boolean } = {}): void {
    const known = this.#entries.get(pod.key);
    if (known?.pod.uid === pod.uid) {
      this.#update(known, pod, mayHelp);
    } else {
      this.remove(pod.key);
      this.#enter(pod);
    }
    this.#serve();
  }

  /** Puts these pods before all others of their priority, in the order that they had among themselves. */
  moveToFront(keys: Iterable<string>): void {
    const added = this.#lastOrder;
    for (const key of keys) {
      const entry = this.#entries.get(key);
      if (entry === undefined) continue;
      entry.order -= added;
      this.#move(entry, entry.state);
    }
    this.#serve();
  }

  /** The pod has a node, no longer exists, or is no longer this scheduler's. */
  remove(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#swept.delete(entry);
    entry.state.delete(entry);
    this.#serve();
  }

  /** Resolves with the next pod, as soon as there is one; with undefined when `signal` aborts or the queue is closed. */
  async take(signal: AbortSignal): Promise<SchedulingAttempt | undefined> {
    if (signal.aborted || this.#isClosed) return undefined;
    return await new Promise((resolve) => {
      const deliver = (attempt: SchedulingAttempt | undefined) => {
        this.#takers.delete(deliver);
        stopListening();
        resolve(attempt);
      };
      const stopListening = onAbort(signal, () => {
        deliver(undefined);
        this.#setTimer();
      });
      this.#takers.add(deliver);
      this.#serve();
    });
  }

  /** The decision begins, on a state that has all changes so far: they need not wake the pod again, which would put it behind pods that wait as long as it does. */
  startDeciding(attempt: SchedulingAttempt): void {
    const entry = this.#entryOf(attempt);
    if (entry?.state === this.#inFlight) this.#move(entry, this.#inFlight);
  }

  /** No node fits. The pod waits; if a change came meanwhile that would have woken it, it backs off instead. */
  refused(attempt: SchedulingAttempt, wakeCondition: WakeCondition): void {
    const entry = this.#entryOf(attempt);
    if (entry === undefined) return;
    const isWoken = this.#inFlight.sawAny(entry, (change) => wakeCondition.wokenBy(change));
    this.#countRefusal(entry);
    if (entry.wasUpdated || entry.pod.isGated) this.#activate(entry, 'update');
    else if (isWoken) this.#activate(entry, 'event');
    else this.#wait(entry, wakeCondition);
    this.#serve();
  }

  /** The decision failed with an error. The pod backs off, even if the scheduler is idle. */
  failed(attempt: SchedulingAttempt): void {
    const entry = this.#entryOf(attempt);
    if (entry === undefined) return;
    this.#countError(entry);
    this.#activate(entry, 'backoff');
    this.#serve();
  }

  /** A node is reserved for the pod. It leaves the queue unless `requeue` brings it back. */
  done(attempt: SchedulingAttempt): void {
    const entry = this.#entryOf(attempt);
    if (entry !== undefined) this.#move(entry, this.#decided);
  }

  /** The binding of a pod that was `done` has failed. */
  requeue(attempt: SchedulingAttempt, why: 'refusal' | 'error'): void {
    const entry = this.#entryOf(attempt);
    if (entry === undefined) return;
    if (why === 'error') this.#countError(entry);
    else this.#countRefusal(entry);
    this.#activate(entry, 'backoff');
    this.#serve();
  }

  /** A step after the refusal failed, such as evicting its victims, so the event that the pod waits for may never come. It backs off as after an error. */
  retry(attempt: SchedulingAttempt): void {
    const entry = this.#entries.get(attempt.pod.key);
    // If a change has woken it meanwhile, it is scheduled anyway.
    if (entry?.attempt !== attempt || entry.state !== this.#unschedulable) return;
    this.#countError(entry);
    this.#activate(entry, 'backoff');
    this.#serve();
  }

  /** Moves the pods that the change wakes. */
  observe(change: ClusterChange): void {
    this.#inFlight.record(change);
    for (const entry of this.#swept) if (entry.wakeCondition?.wokenBy(change)) this.#setCause(entry, 'event');
    const woken = this.#unschedulable.wokenBy(change);
    if (woken.length === 0) return;
    for (const entry of woken) this.#activate(entry, 'event');
    // Only after all were moved, so that the first by priority is taken and not the first that was moved.
    this.#serve();
  }

  /** Ends all current and future `take` calls. */
  close(): void {
    this.#isClosed = true;
    for (const deliver of this.#takers) deliver(undefined);
    this.#setTimer();
  }

  #enter(pod: QueuedPod): void {
    const entry: QueueEntry = {
      pod,
      // It isn't there yet, which a set doesn't mind.
      state: this.#gated,
      slot: 0,
      order: this.#nextOrder(),
      cause: 'new',
      queuedMs: undefined,
      attempts: 0,
      refusals: 0,
      errors: 0,
      backOffEndMs: Number.NEGATIVE_INFINITY,
      attempt: undefined,
      wasUpdated: false,
      wakeCondition: undefined,
      dueMs: Number.POSITIVE_INFINITY,
      dueCause: 'sweep',
    };
    this.#entries.set(pod.key, entry);
    this.#activate(entry, 'new');
  }

  #update(entry: QueueEntry, pod: QueuedPod, mayHelp: boolean): void {
    entry.pod = pod;
    switch (entry.state) {
      case this.#decided:
        return;
      case this.#inFlight:
        entry.wasUpdated ||= mayHelp;
        return;
      case this.#gated:
        if (!pod.isGated) this.#activate(entry, 'update');
        return;
      case this.#unschedulable:
        if (mayHelp || pod.isGated) this.#activate(entry, 'update');
        return;
      default:
        if (mayHelp && entry.cause === 'sweep') this.#setCause(entry, 'update');
        // Its priority may have changed, so its position in the heap has to be found again.
        this.#move(entry, pod.isGated ? this.#gated : entry.state);
    }
  }

  /** The entry of an attempt in flight or decided. Decided too, so that a pod is not lost if it is reported as failed after `done`. */
  #entryOf(attempt: SchedulingAttempt): QueueEntry | undefined {
    const entry = this.#entries.get(attempt.pod.key);
    if (entry?.attempt !== attempt) return undefined;
    return entry.state === this.#inFlight || entry.state === this.#decided ? entry : undefined;
  }

  #countRefusal(entry: QueueEntry): void {
    entry.refusals += 1;
    entry.errors = 0;
    this.#backOff(entry, entry.refusals);
  }

  #countError(entry: QueueEntry): void {
    entry.errors += 1;
    this.#backOff(entry, entry.errors);
  }

  #backOff(entry: QueueEntry, failures: number): void {
    entry.order = this.#nextOrder();
    entry.backOffEndMs = backOffEndMs(failures, this.#clock.monotonicMs(), this.#options.backOff);
  }

  #wait(entry: QueueEntry, wakeCondition: WakeCondition): void {
    const { waitingMaxMs, sweepMs } = this.#options;
    const nowMs = this.#clock.monotonicMs();
    const untilRetryMs = (wakeCondition.retryAtMs ?? Number.POSITIVE_INFINITY) - this.#clock.nowMs();
    // Not before its back-off ends: a retry time that is always in the past must not keep an idle scheduler busy.
    const retryMs = Math.max(nowMs + untilRetryMs, entry.backOffEndMs);
    const sweptMs = (Math.floor((nowMs + waitingMaxMs) / sweepMs) + 1) * sweepMs;
    entry.wakeCondition = wakeCondition;
    entry.dueMs = Math.min(retryMs, sweptMs);
    entry.dueCause = retryMs <= sweptMs ? 'retry' : 'sweep';
    assert(Number.isFinite(entry.dueMs), `a pod cannot be scheduled again at ${wakeCondition.retryAtMs}`);
    this.#move(entry, this.#unschedulable);
  }

  /** Moves a pod that should be scheduled: to active, or first to wait for its gates or its back-off. */
  #activate(entry: QueueEntry, cause: AttemptCause): void {
    const nowMs = this.#clock.monotonicMs();
    if (entry.pod.isGated) {
      this.#move(entry, this.#gated);
    } else if (nowMs < entry.backOffEndMs) {
      this.#move(entry, entry.errors > 0 ? this.#errorBackOff : this.#refusalBackOff);
    } else {
      entry.queuedMs ??= nowMs;
      this.#move(entry, this.#active);
    }
    this.#setCause(entry, cause);
  }

  #setCause(entry: QueueEntry, cause: AttemptCause): void {
    entry.cause = cause;
    if (cause === 'sweep') {
      this.#swept.add(entry);
    } else {
      this.#swept.delete(entry);
      entry.wakeCondition = undefined;
    }
  }

  #move(entry: QueueEntry, state: QueueState): void {
    entry.state.delete(entry);
    entry.state = state;
    state.add(entry);
  }

  /** Moves the pods whose time has come. */
  #moveDue(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const backOff of [this.#refusalBackOff, this.#errorBackOff])
      for (const entry of firstWhile(backOff, ({ backOffEndMs }) => backOffEndMs <= nowMs))
        this.#move(entry, this.#active);
    for (const entry of firstWhile(this.#unschedulable, ({ dueMs }) => dueMs <= nowMs))
      this.#activate(entry, entry.dueCause);
  }

  /** Resolves waiting `take` calls. Called after everything that may have moved a pod. */
  #serve(): void {
    if (this.#takers.size > 0) this.#moveDue();
    for (const deliver of this.#takers) {
      const entry = this.#active.first ?? this.#refusalBackOff.first;
      if (entry === undefined) break;
      deliver(this.#begin(entry));
    }
    this.#setTimer();
  }

  #begin(entry: QueueEntry): SchedulingAttempt {
    const { pod, cause, queuedMs = this.#clock.monotonicMs() } = entry;
    entry.attempts += 1;
    entry.attempt = { pod, number: entry.attempts, cause, queuedMs };
    entry.wasUpdated = false;
    this.#swept.delete(entry);
    this.#move(entry, this.#inFlight);
    return entry.attempt;
  }

  #setTimer(): void {
    const dueMs = this.#takers.size > 0 ? this.#nextDueMs() : Number.POSITIVE_INFINITY;
    if (this.#timer?.dueMs === dueMs) return;
    this.#timer?.handle.cancel();
    this.#timer = undefined;
    if (dueMs === Number.POSITIVE_INFINITY) return;
    const handle = this.#clock.after(dueMs - this.#clock.monotonicMs(), () => {
      this.#timer = undefined;
      this.#serve();
    });
    this.#timer = { dueMs, handle };
  }

  /** While a `take` is waiting, no pod backs off after a refusal: it would have been taken. */
  #nextDueMs(): number {
    const errorMs = this.#errorBackOff.first?.backOffEndMs ?? Number.POSITIVE_INFINITY;
    return Math.min(errorMs, this.#unschedulable.first?.dueMs ?? Number.POSITIVE_INFINITY);
  }

  #nextOrder(): number {
    this.#lastOrder += 1;
    return this.#lastOrder;
  }
}

interface Ordered {
  readonly first: QueueEntry | undefined;
}

/** Yields the first entry while it satisfies `holds`. The caller must remove each entry that it gets. */
function* firstWhile(queue: Ordered, holds: (entry: QueueEntry) => boolean): Iterable<QueueEntry> {
  for (let { first } = queue; first !== undefined && holds(first); { first } = queue) yield first;
}
