import type { RefusedOutcome } from './provisioner.ts';

/** As external-provisioner retries: `--retry-interval-start` and `--retry-interval-max`. */
const firstMs = 1_000;
const longestRetryMs = 5 * 60_000;

/** When to repeat a request that failed, depending on the failure. Each claim has its own back-off. */
export class RetryDelays {
  readonly #failures = new Map<string, number>();

  /** `retry-soon` does not grow: the driver is busy or away for a moment. */
  afterMs(key: string, next: RefusedOutcome['next'] | 'retry-soon'): number {
    if (next === 'change') return longestRetryMs;
    if (next === 'retry-soon') return firstMs;
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    return Math.min(longestRetryMs, firstMs * 2 ** failures);
  }

  /** The claim has its volume, or needs none. */
  forget(key: string): void {
    this.#failures.delete(key);
  }
}
