import type { Clock } from '../../../runtime/clock.ts';

/**
 * Gathers what is to be written to many connections and writes to each once a tick: a thousand small writes cost far more
 * than one for all of them.
 */
export class FlushScheduler {
  readonly #clock: Clock;
  readonly #waiting = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls `flush` once, soon; asking again before that changes nothing. */
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
