import type { Clock } from '../../runtime/clock.ts';
import type { Terminal } from './terminal.ts';

/** What is done in less time needs no telling. */
const quietMs = 1_000;
const intervalMs = 200;

/**
 * A line that says what is being done, overwritten in place and gone at the end. Only for a terminal, and only for what takes longer
 * than a second.
 */
export class Progress {
  readonly #write: (text: string) => void;
  readonly #clock: Clock;
  readonly #isShown: boolean;
  readonly #startMs: number;
  #lastMs = 0;
  #isOnScreen = false;

  constructor(terminal: Terminal, clock: Clock, write: (text: string) => void) {
    this.#isShown = terminal.isInteractive;
    this.#clock = clock;
    this.#write = write;
    this.#startMs = clock.nowMs();
  }

  /** May be called as often as anything happens. */
  tell(text: string): void {
    if (!this.#isShown) return;
    const nowMs = this.#clock.nowMs();
    if (nowMs - this.#startMs < quietMs || nowMs - this.#lastMs < intervalMs) return;
    this.#lastMs = nowMs;
    this.#isOnScreen = true;
    this.#write(`\r\u001b[K${text}`);
  }

  end(): void {
    if (this.#isOnScreen) this.#write('\r\u001b[K');
    this.#isOnScreen = false;
  }
}
