import { assert } from './assert.ts';
import type { Clock } from './clock.ts';

/** A delay that doubles with each failure in a row. */
export interface DoublingDelay {
  /** After the first failure. */
  readonly initialMs: number;
  /** The longest delay. */
  readonly maxMs: number;
}

/** The delay after the nth failure in a row; `failures` is at least 1. */
export function doublingDelayMs(failures: number, { initialMs, maxMs }: DoublingDelay): number {
  return Math.min(maxMs, initialMs * 2 ** (failures - 1));
}

interface Failures {
  readonly target: string;
  readonly count: number;
  readonly dueMs: number;
}

/**
 * When work that has failed may be repeated, by key. A key may have a target, such as the size of an expansion: work with another target need
 * not wait, and its first failure counts as the first. Lost by a restart, which costs one attempt.
 */
export class KeyedBackOff {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #delay: DoublingDelay;
  readonly #failed = new Map<string, Failures>();

  constructor(clock: Pick<Clock, 'monotonicMs'>, delay: DoublingDelay) {
    assert(delay.initialMs > 0 && delay.initialMs <= delay.maxMs, 'a back-off needs 0 < initialMs <= maxMs');
    this.#clock = clock;
    this.#delay = delay;
  }

  /** The work failed. Returns the time until it may be repeated; with `isFutile`, the longest delay. */
  failed(key: string, target = '', { isFutile = false } = {}): number {
    const before = this.#failed.get(key);
    const count = before?.target === target ? before.count + 1 : 1;
    const delayMs = isFutile ? this.#delay.maxMs : doublingDelayMs(count, this.#delay);
    this.#failed.set(key, { target, count, dueMs: this.#clock.monotonicMs() + delayMs });
    return delayMs;
  }

  /** The time until the work may be repeated; 0 if it may start now. */
  remainingMs(key: string, target = ''): number {
    const failed = this.#failed.get(key);
    return failed?.target === target ? Math.max(0, failed.dueMs - this.#clock.monotonicMs()) : 0;
  }

  /** The number of failures since the key was last forgotten. */
  failures(key: string): number {
    return this.#failed.get(key)?.count ?? 0;
  }

  /** The work succeeded, or is no longer wanted: its next failure counts as the first. */
  forget(key: string): void {
    this.#failed.delete(key);
  }
}
