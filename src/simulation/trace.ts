import type { Clock } from '../runtime/clock.ts';
import { timeText } from './scenario.ts';

/** A trace longer than this is cut: the scenario is wrong, or something writes without end. */
const linesMax = 100_000;

/** What happened in a run, one line each, the same in every run of a scenario. */
export class Trace {
  readonly #clock: Clock;
  readonly #startMs: number;
  readonly #lines: string[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startMs = clock.monotonicMs();
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  /** `12.500  scheduler-0    patch pods/web: conflict` */
  add(actor: string, text: string): void {
    if (this.#lines.length >= linesMax) return;
    const time = timeText(this.#clock.monotonicMs() - this.#startMs).padStart(9);
    this.#lines.push(`${time}  ${actor.padEnd(12)}  ${text}`);
  }
}
