import type { Clock } from '../../runtime/clock.ts';

export interface WatchLoopOptions {
  readonly clock: Clock;
  /** Gives an answer and shows it. */
  readonly answer: () => Promise<void>;
  /** Between two answers. */
  readonly intervalMs?: number;
  /** An answer is given again after this time, even if nothing has changed: ages and expiries change with time. */
  readonly refreshMs?: number;
}

const intervalMsDefault = 1_000;
const refreshMsDefault = 30_000;

/** Answers again after changes, but not more often than the interval. */
export class WatchLoop {
  readonly #options: WatchLoopOptions;
  #isChanged = true;
  #wake: (() => void) | undefined;

  constructor(options: WatchLoopOptions) {
    this.#options = options;
  }

  /** Something has changed that answers depend on. */
  changed(): void {
    this.#isChanged = true;
    this.#wake?.();
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, answer, intervalMs = intervalMsDefault, refreshMs = refreshMsDefault } = this.#options;
    while (!signal.aborted) {
      this.#isChanged = false;
      await answer();
      await clock.sleep(intervalMs, signal);
      if (!this.#isChanged && !signal.aborted) await this.#untilChanged(refreshMs, signal);
    }
  }

  async #untilChanged(refreshMs: number, signal: AbortSignal): Promise<void> {
    const waiting = new AbortController();
    const stop = () => waiting.abort();
    this.#wake = stop;
    signal.addEventListener('abort', stop, { once: true });
    await this.#options.clock.sleep(refreshMs, waiting.signal);
    signal.removeEventListener('abort', stop);
    this.#wake = undefined;
  }
}
