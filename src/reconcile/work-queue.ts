import { onAbort } from '../runtime/abort.ts';
import { assert } from '../runtime/assert.ts';
import type { Clock, Timer } from '../runtime/clock.ts';
import { KeyedBackOff } from '../runtime/keyed-back-off.ts';
import { TokenBucket, type TokenBucketOptions } from '../runtime/token-bucket.ts';

/** client-go's default: 5 ms after the first failure, twice as long after each further one, never more than 1000 s. */
const retryBaseMsDefault = 5;
const retryMaxMsDefault = 1_000_000;

export interface WorkQueueOptions {
  readonly clock: Clock;
  readonly retryBaseMs?: number;
  readonly retryMaxMs?: number;
  /** Limits the retries of all keys together; if left out, only each key's own back-off applies. */
  readonly retryBucket?: TokenBucketOptions;
}

export interface WorkQueueMetrics {
  /** Keys that could be taken now. */
  readonly depth: number;
  /** Keys that wait for their time. */
  readonly delayed: number;
  /** Keys that a worker is processing. */
  readonly processing: number;
  /** Keys accepted so far; a key that was already waiting does not count. */
  readonly adds: number;
  readonly retries: number;
}

/**
 * A queue of keys to reconcile. It holds at most one entry for each key, which is its bound.
 *
 * 1. `add` any number of times: a waiting key is not added twice. A key that is being processed runs again afterwards, and
 *    never at the same time as itself.
 * 2. Workers `take` a key and call `done` when they have finished with it, whatever the result.
 * 3. `retry` adds a key again after its back-off, which grows with each call until `forget`. `addAfter` adds it after
 *    a given time; of several times, the earliest counts.
 * 4. `shutDown` ends the queue: it accepts nothing more, drops delayed keys, and resolves when no key is being processed.
 *    Waiting keys are still handed out when draining, else dropped.
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #backOff: KeyedBackOff;
  readonly #retryBucket: TokenBucket | undefined;
  /** Keys in the order in which they are handed out; those before `#head` have been handed out. */
  #waiting: string[] = [];
  #head = 0;
  /** Keys to run: those in `#waiting`, and those in `#processing` that were added again meanwhile. */
  readonly #dirty = new Set<string>();
  readonly #processing = new Set<string>();
  readonly #delayed = new Map<string, DelayedKey>();
  readonly #takers = new Set<(key: string | undefined) => void>();
  readonly #onIdle: (() => void)[] = [];
  #isShutDown = false;
  #adds = 0;
  #retries = 0;

  constructor(options: WorkQueueOptions) {
    const { clock, retryBucket } = options;
    this.#clock = clock;
    const { retryBaseMs: initialMs = retryBaseMsDefault, retryMaxMs: maxMs = retryMaxMsDefault } = options;
    this.#backOff = new KeyedBackOff(clock, { initialMs, maxMs });
    this.#retryBucket = retryBucket && new TokenBucket(retryBucket, clock.monotonicMs());
  }

  add(key: string): void {
    if (this.#isShutDown || this.#dirty.has(key)) return;
    this.#adds += 1;
    this.#dirty.add(key);
    if (!this.#processing.has(key)) this.#offer(key);
  }

  addAfter(key: string, delayMs: number): void {
    if (this.#isShutDown) return;
    if (delayMs <= 0) {
      this.add(key);
      return;
    }
    const dueMs = this.#clock.monotonicMs() + delayMs;
    const delayed = this.#delayed.get(key);
    if (delayed !== undefined && delayed.dueMs <= dueMs) return;
    delayed?.timer.cancel();
    const timer = this.#clock.after(delayMs, () => {
      this.#delayed.delete(key);
      this.add(key);
    });
    this.#delayed.set(key, { dueMs, timer });
  }

  /** Adds the key again after its back-off. */
  retry(key: string): void {
    this.#retries += 1;
    const backoffMs = this.#backOff.failed(key);
    const limitMs = this.#retryBucket?.reserveMs(this.#clock.monotonicMs()) ?? 0;
    this.addAfter(key, Math.max(backoffMs, limitMs));
  }

  /** The key succeeded: its next failure counts as the first. */
  forget(key: string): void {
    this.#backOff.forget(key);
  }

  /** How often the key was retried since it was last forgotten. */
  failures(key: string): number {
    return this.#backOff.failures(key);
  }

  /** The key that waited longest; waits for one if there is none. Undefined after shutdown or when `signal` aborts. */
  async take(signal: AbortSignal): Promise<string | undefined> {
    if (signal.aborted) return undefined;
    const key = this.#shift();
    if (key !== undefined || this.#isShutDown) return key;
    return await new Promise((resolve) => {
      const deliver = (delivered: string | undefined) => {
        this.#takers.delete(deliver);
        stopListening();
        resolve(delivered);
      };
      const stopListening = onAbort(signal, () => deliver(undefined));
      this.#takers.add(deliver);
    });
  }

  /** The worker has finished with the key; if it was added meanwhile, it is queued again. */
  done(key: string): void {
    const wasProcessing = this.#processing.delete(key);
    assert(wasProcessing, `${key} is done, but no worker had taken it`);
    if (this.#dirty.has(key)) this.#offer(key);
    this.#notifyIdle();
  }

  /** Forgets the keys that wait for their time, whose timers would keep the process alive after the workers have ended. */
  cancelDelayed(): void {
    for (const { timer } of this.#delayed.values()) timer.cancel();
    this.#delayed.clear();
  }

  /** Resolves when every key that was handed out is done. */
  async shutDown(options: { readonly drain: boolean }): Promise<void> {
    this.#isShutDown = true;
    this.cancelDelayed();
    if (!options.drain) this.#dropWaiting();
    for (const deliver of this.#takers) deliver(undefined);
    if (this.#isIdle()) return;
    await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  metrics(): WorkQueueMetrics {
    return {
      depth: this.#waiting.length - this.#head,
      delayed: this.#delayed.size,
      processing: this.#processing.size,
      adds: this.#adds,
      retries: this.#retries,
    };
  }

  #offer(key: string): void {
    const [deliver] = this.#takers;
    if (deliver === undefined) {
      this.#waiting.push(key);
      return;
    }
    this.#begin(key);
    deliver(key);
  }

  #shift(): string | undefined {
    const key = this.#waiting[this.#head];
    if (key === undefined) return undefined;
    this.#head += 1;
    // Half of the keys are handed out: moving the rest costs no more than the shifts did.
    if (this.#head * 2 >= this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#head);
      this.#head = 0;
    }
    this.#begin(key);
    return key;
  }

  #begin(key: string): void {
    assert(!this.#processing.has(key), `${key} would be processed twice in parallel`);
    this.#dirty.delete(key);
    this.#processing.add(key);
  }

  #dropWaiting(): void {
    this.#waiting = [];
    this.#head = 0;
    this.#dirty.clear();
  }

  #isIdle(): boolean {
    return this.#processing.size === 0 && this.#waiting.length === this.#head;
  }

  #notifyIdle(): void {
    if (!this.#isShutDown || !this.#isIdle()) return;
    for (const resolve of this.#onIdle.splice(0)) resolve();
  }
}

interface DelayedKey {
  readonly dueMs: number;
  readonly timer: Timer;
}
