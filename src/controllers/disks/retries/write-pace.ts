import type { Clock } from '../../../runtime/clock.ts';
import { TokenBucket } from '../../../runtime/token-bucket.ts';

/** A burst of 20 writes, and one write per second after that. Placing a volume and expanding it take about ten plans each. */
const rate = { tokensPerSecond: 1, burst: 20 };

/**
 * Limits how often this process writes the decisions about one object. Instances whose caches differ would otherwise undo each other's writes without a delay
 * until the caches agree.
 */
export class WritePace {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Returns 0 if the writes may be sent now: then they count. Otherwise returns how long to wait. */
  takeMs(name: string): number {
    const nowMs = this.#clock.monotonicMs();
    const bucket = this.#buckets.get(name) ?? new TokenBucket(rate, nowMs);
    this.#buckets.set(name, bucket);
    const waitMs = bucket.reserveMs(nowMs);
    if (waitMs > 0) bucket.giveBack();
    return waitMs;
  }

  delete(name: string): void {
    this.#buckets.delete(name);
  }
}
