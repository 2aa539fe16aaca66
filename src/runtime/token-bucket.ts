import { assert } from './assert.ts';

export interface TokenBucketOptions {
  readonly tokensPerSecond: number;
  /** How many tokens may be taken together after an idle time; the bucket starts full. */
  readonly burst: number;
}

/**
 * Limits a rate: bursts of `burst`, `tokensPerSecond` in the long run. It keeps no timer; the caller passes the time, from a
 * monotonic clock.
 */
export class TokenBucket {
  readonly #perMs: number;
  readonly #burst: number;
  /** Below 0 while tokens have been reserved ahead of time. */
  #tokens: number;
  #atMs: number;

  constructor({ tokensPerSecond, burst }: TokenBucketOptions, nowMs: number) {
    assert(
      tokensPerSecond > 0 && burst >= 1,
      'a token bucket needs a rate above 0 and a burst of at least 1',
    );
    this.#perMs = tokensPerSecond / 1000;
    this.#burst = burst;
    this.#tokens = burst;
    this.#atMs = nowMs;
  }

  /** Takes a token if there is one. */
  tryTake(nowMs: number): boolean {
    this.#refill(nowMs);
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Takes a token, now or ahead of time; returns how long to wait before using it. */
  reserveMs(nowMs: number): number {
    this.#refill(nowMs);
    this.#tokens -= 1;
    return this.#tokens >= 0 ? 0 : -this.#tokens / this.#perMs;
  }

  /** Returns a reserved token that was not used. */
  giveBack(): void {
    this.#tokens = Math.min(this.#burst, this.#tokens + 1);
  }

  #refill(nowMs: number): void {
    const elapsedMs = Math.max(0, nowMs - this.#atMs);
    this.#tokens = Math.min(this.#burst, this.#tokens + elapsedMs * this.#perMs);
    this.#atMs = nowMs;
  }
}
