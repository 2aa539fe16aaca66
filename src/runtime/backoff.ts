import { assert, unreachable } from './assert.ts';
import type { Random } from './random.ts';

export interface BackoffOptions {
  /** The ceiling of the first delay. */
  readonly baseMs: number;
  /** No delay is longer, however many attempts have failed. */
  readonly maxMs: number;
  /** Factor by which the ceiling grows from one attempt to the next; at least 1. */
  readonly factor: number;
  readonly jitter: Jitter;
}

/**
 * How a delay is drawn below its ceiling. `full`: anywhere from 0, which spreads many clients best. `equal`: from half the
 * ceiling, which also guarantees a pause.
 */
type Jitter = 'full' | 'equal';

/** How long to wait before trying again. Pure: the caller counts the attempts and does the waiting. */
export interface Backoff {
  /** A delay in [0, maxMs], after `attempt` earlier delays: 0 for the first. */
  delayMs(attempt: number, random: Random): number;
}

export function exponentialBackoff(options: BackoffOptions): Backoff {
  const { baseMs, maxMs, factor, jitter } = options;
  assert(baseMs > 0 && baseMs <= maxMs && Number.isFinite(maxMs), 'a back-off needs 0 < baseMs <= maxMs');
  assert(factor >= 1, 'a back-off must not get shorter: its factor is at least 1');
  return {
    delayMs(attempt, random) {
      assert(Number.isInteger(attempt) && attempt >= 0, `attempts are counted 0, 1, 2 ..., not ${attempt}`);
      const ceilingMs = Math.min(maxMs, baseMs * factor ** attempt);
      return jittered(ceilingMs, jitter, random);
    },
  };
}

function jittered(ceilingMs: number, jitter: Jitter, random: Random): number {
  switch (jitter) {
    case 'full':
      return random.next() * ceilingMs;
    case 'equal':
      return (0.5 + random.next() / 2) * ceilingMs;
    default:
      return unreachable(jitter);
  }
}
