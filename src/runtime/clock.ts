import { onAbort } from './abort.ts';
import { assert } from './assert.ts';

/**
 * Time for everything above this folder. `realClock` follows the machine, `VirtualClock` follows a simulation.
 *
 * 1. `nowMs` is for timestamps, which people read and other processes compare. It may jump, in either direction.
 * 2. `monotonicMs` is for durations and deadlines. It never goes back; its origin means nothing.
 * 3. `after` and `sleep` count monotonic time and never end early. How late they end depends on the machine.
 *    A negative delay counts as 0, because the remaining time until a deadline often is negative; a delay that is not finite is
 *    a bug and throws. Nothing happens before the call has returned, not even with a delay of 0.
 *
 * Any number of timers and sleeps may be pending. The order of those that end within the same millisecond is
 * exact on a virtual clock only; callers must not rely on it.
 */
export interface Clock {
  /** Wall-clock time in milliseconds since 1970, UTC. */
  nowMs(): number;
  /** Milliseconds since an origin that the clock chooses. */
  monotonicMs(): number;
  /** Resolves after `ms` or when `signal` aborts, whichever is first; never rejects. The signal shows which it was. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /**
   * Calls `callback` once, after `ms`. The callback must not throw: that is a bug, and ends the process on the real
   * clock and the `advance` in progress on a virtual one. A pending timer keeps the process alive.
   */
  after(ms: number, callback: () => void): Timer;
}

export interface Timer {
  /** Prevents the call of the callback. Does nothing once it has been called, or when already cancelled. */
  cancel(): void;
}

export const realClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (ms, signal) => sleepOn(realClock, ms, signal),
  after: (ms, callback) => new RealTimer(checkedDelayMs(ms), callback),
};

/** `sleep` in terms of `after`, for implementations of `Clock`. Leaves neither timer nor listener behind. */
export function sleepOn(clock: Pick<Clock, 'after'>, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = clock.after(ms, () => finish());
    const stopListening = onAbort(signal, () => finish());
    const finish = () => {
      timer.cancel();
      stopListening();
      resolve();
    };
  });
}

/** The rule of `Clock` about delays: finite, and never below 0. */
export function checkedDelayMs(ms: number): number {
  // The message is made only if it is needed: every timer comes here.
  if (!Number.isFinite(ms)) assert(false, `a delay must be a finite number of milliseconds, not ${ms}`);
  return Math.max(0, ms);
}

/** The longest delay that setTimeout takes; it silently turns a longer one into 1 ms. */
const timeoutMaxMs = 2 ** 31 - 1;

/**
 * One setTimeout after another until the time has come: most timers need one. Long delays need more, and so does a
 * timeout that Node ends a fraction of a millisecond early, which happens now and then.
 */
class RealTimer implements Timer {
  readonly #dueMs: number;
  readonly #callback: () => void;
  #timeout: NodeJS.Timeout;

  constructor(ms: number, callback: () => void) {
    this.#dueMs = performance.now() + ms;
    this.#callback = callback;
    this.#timeout = this.#arm(ms);
  }

  cancel(): void {
    clearTimeout(this.#timeout);
  }

  #arm(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#wake(), Math.min(Math.ceil(ms), timeoutMaxMs));
  }

  #wake(): void {
    const restMs = this.#dueMs - performance.now();
    if (restMs > 0) this.#timeout = this.#arm(restMs);
    else this.#callback();
  }
}
