import type { Clock, Timer } from '../../runtime/clock.ts';
import { StoreError } from './store-error.ts';

export interface DeferredWritesOptions {
  readonly clock: Clock;
  /** Called with the reason whenever a step has to wait. */
  onError(error: unknown, where: string): void;
}

const retryMs = 5_000;

/**
 * The writes of a start. A full disk must not keep a server from serving the data that it has, so a step that finds no space is repeated until
 * there is some. Every step must decide from stored state alone: it may have ended anywhere before.
 */
export class DeferredWrites {
  readonly #options: DeferredWritesOptions;
  readonly #waiting: Step[] = [];
  #timer: Timer | undefined;
  #work: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: DeferredWritesOptions) {
    this.#options = options;
  }

  /** Resolves when the step is done, or has to wait for space. Rejects for any other reason. */
  async run(where: string, write: () => Promise<void>): Promise<void> {
    const step = { where, write };
    if (!(await this.#isDone(step))) this.#wait(step);
  }

  async settled(): Promise<void> {
    await this.#work;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    await this.#work;
  }

  async #isDone({ where, write }: Step): Promise<boolean> {
    try {
      await write();
      return true;
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== 'DiskFull') throw error;
      this.#options.onError(error, where);
      return false;
    }
  }

  #wait(step: Step): void {
    this.#waiting.push(step);
    this.#setTimer();
  }

  #setTimer(): void {
    if (this.#isClosed || this.#waiting.length === 0) return;
    this.#timer ??= this.#options.clock.after(retryMs, () => {
      this.#timer = undefined;
      this.#work = this.#retry();
    });
  }

  /** Retries the writes in order: later ones may need the objects of earlier ones. */
  async #retry(): Promise<void> {
    try {
      while (!this.#isClosed && this.#waiting[0] !== undefined) {
        if (!(await this.#isDone(this.#waiting[0]))) break;
        this.#waiting.shift();
      }
    } catch (error) {
      this.#options.onError(error, this.#waiting.shift()?.where ?? 'start');
    }
    this.#work = undefined;
    this.#setTimer();
  }
}

interface Step {
  readonly where: string;
  readonly write: () => Promise<void>;
}
