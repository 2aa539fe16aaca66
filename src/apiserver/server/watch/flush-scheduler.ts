import type { Clock } from '../../../runtime/clock.ts';

/**
 * Batches writes to many connections, one write per connection and tick: a thousand small writes cost far more than one
 * large write each.
 */
export class FlushScheduler {
  readonly #clock: Clock;
  readonly #waiting = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls `flush` once, in the next tick; scheduling it again before that has no effect. */
  schedule(flush: () => void): void {
    if (this.#waiting.size === 0) this.#clock.after(0, () => this.#run());
    this.#waiting.add(flush);
  }

  #run(): void {
    const due = [...this.#waiting];
    this.#waiting.clear();
    for (const flush of due) flush();
  }
}
