import type { Clock } from '../../runtime/clock.ts';
import { TokenBucket, type TokenBucketOptions } from '../../runtime/token-bucket.ts';

/** Delays requests, so that a burst of ours does not overload the server. */
export class RateLimit {
  readonly #clock: Clock;
  readonly #bucket: TokenBucket;
  #waits = 0;

  constructor(options: TokenBucketOptions, clock: Clock) {
    this.#clock = clock;
    this.#bucket = new TokenBucket(options, clock.monotonicMs());
  }

  /** How many requests had to wait. */
  get waits(): number {
    return this.#waits;
  }

  /** Resolves when the next request may be sent; rejects with the signal's reason if it aborts first. */
  async turn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const waitMs = this.#bucket.reserveMs(this.#clock.monotonicMs());
    if (waitMs === 0) return;
    this.#waits += 1;
    await this.#clock.sleep(waitMs, signal);
    if (!signal.aborted) return;
    this.#bucket.giveBack();
    signal.throwIfAborted();
  }
}
