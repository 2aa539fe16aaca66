import type { ClusterChange } from '../../../engine/cluster-index/cluster-change.ts';
import { onAbort } from '../../../runtime/abort.ts';
import { assert } from '../../../runtime/assert.ts';
import type { Clock, Timer } from '../../../runtime/clock.ts';
import { type BackOffOptions, backOffEndMs } from './back-off.ts';
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
  readonly backOff: BackOffOptions;
  /** A refused pod that has waited longer is looked at again, whatever it waits for. */
  readonly waitingMaxMs: number;
  /** How often those are looked for. */
  readonly sweepMs: number;
}

const defaults: SchedulingQueueOptions = {
  backOff: { initialMs: 1_000, maxMs: 10_000 },
  waitingMaxMs: 5 * 60_000,
  sweepMs: 30_000,
};

/** Pods by where they are. `backoff` has those that back off from errors too. */
export interface SchedulingQueueCounts {
  readonly active: number;
  readonly backoff: number;
  readonly unschedulable: number;
  readonly gated: number;
  readonly inFlight: number;
  readonly decided: number;
  /** Not pods: the changes that are kept for those in flight. */
  readonly loggedChanges: number;
}

/**
 * The pods that want a node, from the moment they are seen to the moment they have one, in the order in which they are
 * looked at. No order of calls loses a pod or a wake-up.
 *
 * 1. `put` tells of a pod without a node, `remove` that it got one or is gone. Both may be called at any time, and again.
 *    The uid is the pod: another one under the same key takes its place.
 * 2. `take` gives the next one: highest priority first, then the one that has queued longest. While there is none, it takes
 *    one that backs off after a refusal, but never one that backs off after an error. From then on the pod is in flight.
 * 3. Whoever took it says how it ended, once: `refused`, with what the pod waits for now; `failed`, if that is not even
 *    known; or `done`, as soon as a node is reserved for it. Changes that came meanwhile count as if they came afterwards.
 * 4. A pod that is `done` is still known, so that updates don't queue it again, until `remove`. If its binding fails it
 *    comes back by `requeue`. What changed during the binding wasn't recorded, so it doesn't wait but only backs off.
 * 5. A pod that was `refused` and that somebody was to make room for comes back by `retry` where that failed.
 * 6. `changed` tells of everything that happens to the index, and moves the pods that it wakes.
 *
 * A receipt of a pod that was removed or replaced meanwhile, or that was handed in already, does nothing.
 *
 * Time: what has become due moves when somebody looks, and a timer runs only while somebody waits in `take`.
 */
export class SchedulingQueue {
  readonly #clock: Clock;
  readonly #options: SchedulingQueueOptions;
  readonly #entries = new Map<string, QueueEntry>();
  readonly #active = new Heap<QueueEntry>(isBefore);
  readonly #refusalBackOff = new Heap<QueueEntry>(endsBefore);
  readonly #errorBackOff = new Heap<QueueEntry>(endsBefore);
  readonly #waiting = new UnschedulablePods();
  readonly #gated = new Set<QueueEntry>();
  readonly #inFlight = new InFlightPods<QueueEntry>();
  readonly #decided = new Set<QueueEntry>();
  /** Swept and not taken yet: a change can still be what wakes them. */
  readonly #swept = new Set<QueueEntry>();
  readonly #takers = new Set<(taken: SchedulingAttempt | undefined) => void>();
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
      unschedulable: this.#waiting.size,
      gated: this.#gated.size,
      inFlight: this.#inFlight.size,
      decided: this.#decided.size,
      loggedChanges: this.#inFlight.loggedChanges,
    };
  }

  /** A new pod, or one that has changed; `mayHelp` is whether the change could make a pod fit that was refused. */
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

  /** It has a node, or is gone, or is nobody's business here any more. */
  remove(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#swept.delete(entry);
    entry.state.delete(entry);
    this.#serve();
  }

  /** The next pod, waiting for one if need be; undefined when `signal` aborted or the queue was closed. */
  async take(signal: AbortSignal): Promise<SchedulingAttempt | undefined> {
    if (signal.aborted || this.#isClosed) return undefined;
    return await new Promise((resolve) => {
      const deliver = (taken: SchedulingAttempt | undefined) => {
        this.#takers.delete(deliver);
        stopListening();
        resolve(taken);
      };
      const stopListening = onAbort(signal, () => {
        deliver(undefined);
        this.#setTimer();
      });
      this.#takers.add(deliver);
      this.#serve();
    });
  }

  /** No node fits. It waits, unless something came meanwhile that would have woken it: then it backs off. */
  refused(taken: SchedulingAttempt, waiting: WakeCondition): void {
    const entry = this.#entryOf(taken);
    if (entry === undefined) return;
    const isWoken = this.#inFlight.sawAny(entry, (change) => waiting.wokenBy(change));
    this.#countRefusal(entry);
    if (entry.wasUpdated || entry.pod.isGated) this.#moveOn(entry, 'update');
    else if (isWoken) this.#moveOn(entry, 'event');
    else this.#wait(entry, waiting);
    this.#serve();
  }

  /** Something broke before there was an answer. It backs off, however idle the scheduler is. */
  failed(taken: SchedulingAttempt): void {
    const entry = this.#entryOf(taken);
    if (entry === undefined) return;
    this.#countError(entry);
    this.#moveOn(entry, 'backoff');
    this.#serve();
  }

  /** Decided: nothing more to do, unless `requeue` says otherwise. */
  done(taken: SchedulingAttempt): void {
    const entry = this.#entryOf(taken);
    if (entry !== undefined) this.#move(entry, this.#decided);
  }

  /** What was decided and `done` could not be carried out. */
  requeue(taken: SchedulingAttempt, why: 'refusal' | 'error'): void {
    const entry = this.#entryOf(taken);
    if (entry === undefined) return;
    if (why === 'error') this.#countError(entry);
    else this.#countRefusal(entry);
    this.#moveOn(entry, 'backoff');
    this.#serve();
  }

  /** What should have been done for a refused pod failed, so what it waits for may never come. It backs off as from an error. */
  retry(taken: SchedulingAttempt): void {
    const entry = this.#entries.get(taken.pod.key);
    // Whoever woke it meanwhile has it looked at anyway.
    if (entry?.attempt !== taken || entry.state !== this.#waiting) return;
    this.#countError(entry);
    this.#moveOn(entry, 'backoff');
    this.#serve();
  }

  /** Something happened to the index. */
  observe(change: ClusterChange): void {
    this.#inFlight.record(change);
    for (const entry of this.#swept) if (entry.wakeCondition?.wokenBy(change)) this.#recause(entry, 'event');
    const woken = this.#waiting.wokenBy(change);
    if (woken.length === 0) return;
    for (const entry of woken) this.#moveOn(entry, 'event');
    // Only now, so that the first of them all is taken and not the first that was moved.
    this.#serve();
  }

  /** Ends every `take`, those to come too. */
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
    this.#moveOn(entry, 'new');
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
        if (!pod.isGated) this.#moveOn(entry, 'update');
        return;
      case this.#waiting:
        if (mayHelp || pod.isGated) this.#moveOn(entry, 'update');
        return;
      default:
        if (mayHelp && entry.cause === 'sweep') this.#recause(entry, 'update');
        // It is queued already, and finds its place anew: its priority may be another.
        this.#move(entry, pod.isGated ? this.#gated : entry.state);
    }
  }

  /** Of one that is in flight or decided. Both, because a pod must not be lost if its end is told after `done`. */
  #entryOf(taken: SchedulingAttempt): QueueEntry | undefined {
    const entry = this.#entries.get(taken.pod.key);
    if (entry?.attempt !== taken) return undefined;
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

  #wait(entry: QueueEntry, waiting: WakeCondition): void {
    const { waitingMaxMs, sweepMs } = this.#options;
    const nowMs = this.#clock.monotonicMs();
    const restMs = (waiting.retryAtMs ?? Number.POSITIVE_INFINITY) - this.#clock.nowMs();
    // Not before its back-off is over: a time that is always past must not keep an idle scheduler busy.
    const retryMs = Math.max(nowMs + restMs, entry.backOffEndMs);
    const sweptMs = (Math.floor((nowMs + waitingMaxMs) / sweepMs) + 1) * sweepMs;
    entry.wakeCondition = waiting;
    entry.dueMs = Math.min(retryMs, sweptMs);
    entry.dueCause = retryMs <= sweptMs ? 'retry' : 'sweep';
    assert(Number.isFinite(entry.dueMs), `a pod can't be looked at again at ${waiting.retryAtMs}`);
    this.#move(entry, this.#waiting);
  }

  /** To where a pod belongs that somebody should look at: once its gates are gone and its back-off is over. */
  #moveOn(entry: QueueEntry, cause: AttemptCause): void {
    const nowMs = this.#clock.monotonicMs();
    if (entry.pod.isGated) {
      this.#move(entry, this.#gated);
    } else if (nowMs < entry.backOffEndMs) {
      this.#move(entry, entry.errors > 0 ? this.#errorBackOff : this.#refusalBackOff);
    } else {
      entry.queuedMs ??= nowMs;
      this.#move(entry, this.#active);
    }
    this.#recause(entry, cause);
  }

  #recause(entry: QueueEntry, cause: AttemptCause): void {
    entry.cause = cause;
    if (cause === 'sweep') {
      this.#swept.add(entry);
    } else {
      this.#swept.delete(entry);
      entry.wakeCondition = undefined;
    }
  }

  #move(entry: QueueEntry, place: QueueState): void {
    entry.state.delete(entry);
    entry.state = place;
    place.add(entry);
  }

  /** Everything whose time has come. */
  #moveDue(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const backOff of [this.#refusalBackOff, this.#errorBackOff])
      for (const entry of firstWhile(backOff, ({ backOffEndMs }) => backOffEndMs <= nowMs))
        this.#move(entry, this.#active);
    for (const entry of firstWhile(this.#waiting, ({ dueMs }) => dueMs <= nowMs))
      this.#moveOn(entry, entry.dueCause);
  }

  /** Gives those who wait what there is; called after everything that may have moved a pod. */
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

  /** While somebody waits, nobody backs off from a refusal: that one would have been taken. */
  #nextDueMs(): number {
    const errorMs = this.#errorBackOff.first?.backOffEndMs ?? Number.POSITIVE_INFINITY;
    return Math.min(errorMs, this.#waiting.first?.dueMs ?? Number.POSITIVE_INFINITY);
  }

  #nextOrder(): number {
    this.#lastOrder += 1;
    return this.#lastOrder;
  }
}

interface Ordered {
  readonly first: QueueEntry | undefined;
}

/** The first one again and again, as long as it satisfies `holds`; whoever gets one takes it out. */
function* firstWhile(place: Ordered, holds: (entry: QueueEntry) => boolean): Iterable<QueueEntry> {
  for (let { first } = place; first !== undefined && holds(first); { first } = place) yield first;
}
