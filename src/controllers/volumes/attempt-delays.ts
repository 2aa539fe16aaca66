import type { Clock } from '../../runtime/clock.ts';

/** The defaults of external-resizer. */
const delayBaseMs = 1_000;
const delayMaxMs = 5 * 60_000;

interface Attempt {
  readonly target: string;
  readonly failures: number;
  readonly untilMs: number;
}

/**
 * When a call to a driver may be repeated, by the key of the object. A queue's own back-off is not enough: recording a failure
 * changes the object, and that wakes its key at once. Another target may be tried at once. Lost by a restart, which costs one attempt.
 */
export class AttemptDelays {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #attempts = new Map<string, Attempt>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** The attempt failed. Returns when to try again: twice as long as after the last failure, or, for `isFutile`, the longest delay. */
  failed(key: string, target: string, { isFutile = false } = {}): number {
    const before = this.#attempts.get(key);
    const failures = before?.target === target ? before.failures + 1 : 1;
    const delayMs = isFutile ? delayMaxMs : Math.min(delayMaxMs, delayBaseMs * 2 ** (failures - 1));
    this.#attempts.set(key, { target, failures, untilMs: this.#clock.monotonicMs() + delayMs });
    return delayMs;
  }

  /** How long the attempt has to wait; 0 if it may start. */
  remainingMs(key: string, target: string): number {
    const attempt = this.#attempts.get(key);
    if (attempt === undefined || attempt.target !== target) return 0;
    return Math.max(0, attempt.untilMs - this.#clock.monotonicMs());
  }

  /** Whether an attempt failed: then the queue repeats it. */
  has(key: string): boolean {
    return this.#attempts.has(key);
  }

  forget(key: string): void {
    this.#attempts.delete(key);
  }
}
