import type { Clock } from '../../runtime/clock.ts';
import { printableText } from '../../runtime/printable-text.ts';
import type { Terminal } from './terminal.ts';

/** Shorter work shows no progress. */
const quietMs = 1_000;
const intervalMs = 200;

/**
 * A progress line that is overwritten in place and removed at the end. It appears only on a terminal, and only for work that takes longer
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

  /** May be called any number of times. */
  tell(text: string): void {
    if (!this.#isShown) return;
    const nowMs = this.#clock.nowMs();
    if (nowMs - this.#startMs < quietMs || nowMs - this.#lastMs < intervalMs) return;
    this.#lastMs = nowMs;
    this.#isOnScreen = true;
    this.#write(`\r\u001b[K${printableText(text)}`);
  }

  end(): void {
    if (this.#isOnScreen) this.#write('\r\u001b[K');
    this.#isOnScreen = false;
  }
}
