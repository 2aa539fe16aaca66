import { type Clock, sleepOn, type Timer } from '../runtime/clock.ts';

/**
 * The clocks by which processes hold elections. They stop when all faults have ended and all elections have settled: from then on every
 * renewal of a Lease would succeed, and every candidate would read one that has just been renewed. That would be most of the work of a run.
 *
 * While they stand still, a leader leads and a candidate waits. Requests that are on their way when they stop are answered.
 */
export class ElectionClocks {
  readonly #shared: Clock;
  #stoppedMs: number | undefined;

  /** `shared` is the time of the simulation, which the monotonic time of every process follows. */
  constructor(shared: Clock) {
    this.#shared = shared;
  }

  stop(): void {
    this.#stoppedMs ??= this.#shared.monotonicMs();
  }

  /** The clock of the elections of a process whose other clock is `clock`. */
  clockFor(clock: Clock): Clock {
    const electionClock: Clock = {
      nowMs: () => clock.nowMs(),
      monotonicMs: () => this.#stoppedMs ?? clock.monotonicMs(),
      sleep: (ms, signal) => sleepOn(electionClock, ms, signal),
      after: (ms, callback) => this.#after(clock, ms, callback),
    };
    return electionClock;
  }

  #after(clock: Clock, ms: number, callback: () => void): Timer {
    if (this.#stoppedMs !== undefined) return { cancel: () => {} };
    return clock.after(ms, () => {
      if (this.#stoppedMs === undefined) callback();
    });
  }
}
