import type { Clock } from '../../../runtime/clock.ts';

/** Writes what is due, and returns the size of the objects that it encoded. */
export type Flush = () => number;

/** The size of the objects that all connections together may encode in one tick; the others wait for the next. */
const tickMaxBytes = 4 * 1024 * 1024;

/**
 * Batches writes to many connections, one write per connection and tick: a thousand small writes cost far more than one
 * large write each. A tick ends after so many bytes, so that however many watches begin, other requests get their turn.
 */
export class FlushScheduler {
  readonly #clock: Clock;
  /** The first one that was scheduled is the next. */
  readonly #waiting = new Set<Flush>();
  #isScheduled = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls `flush` once, in the next tick or soon after; scheduling it again before that has no effect. */
  schedule(flush: Flush): void {
    this.#waiting.add(flush);
    this.#arm();
  }

  #arm(): void {
    if (this.#isScheduled || this.#waiting.size === 0) return;
    this.#isScheduled = true;
    this.#clock.after(0, () => this.#run());
  }

  #run(): void {
    this.#isScheduled = false;
    const due = [...this.#waiting];
    let left = tickMaxBytes;
    for (const flush of due) {
      if (left <= 0) break;
      this.#waiting.delete(flush);
      left -= flush();
    }
    this.#arm();
  }
}
