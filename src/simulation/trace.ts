import type { Clock } from '../runtime/clock.ts';
import { timeText } from './scenario.ts';

/** A trace longer than this is cut: the scenario is wrong, or something writes without end. */
const linesMax = 100_000;

/** What happened in a run, one line each, the same in every run of a scenario. Most traces are never read, so lines are made on demand. */
export class Trace {
  readonly #clock: Clock;
  readonly #startMs: number;
  readonly #entries: TraceEntry[] = [];
  #lines: readonly string[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startMs = clock.monotonicMs();
  }

  /** `12.500  scheduler-0    patch pods/web: conflict` */
  get lines(): readonly string[] {
    if (this.#lines.length < this.#entries.length) this.#lines = this.#entries.map(lineOf);
    return this.#lines;
  }

  /** A function is called when the line is needed: what it reads must not change. */
  add(actor: string, text: string | (() => string)): void {
    if (this.#entries.length >= linesMax) return;
    this.#entries.push({ atMs: this.#clock.monotonicMs() - this.#startMs, actor, text });
  }
}

interface TraceEntry {
  readonly atMs: number;
  readonly actor: string;
  readonly text: string | (() => string);
}

function lineOf({ atMs, actor, text }: TraceEntry): string {
  return `${timeText(atMs).padStart(9)}  ${actor.padEnd(12)}  ${typeof text === 'string' ? text : text()}`;
}
