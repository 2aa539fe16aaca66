import type { Terminal } from '../output/terminal.ts';

export interface ScreenDevice {
  readonly terminal: Terminal;
  /** Lines; undefined if unknown. */
  readonly height: number | undefined;
  readonly write: (text: string) => void;
}

const enter = '\u001b[?1049h\u001b[?25l';
const leave = '\u001b[?25h\u001b[?1049l';
const home = '\u001b[H';
const clearLine = '\u001b[K';
const clearBelow = '\u001b[J';

/**
 * Shows one text after the other: in place on the alternate screen of a terminal, so that what was there before is back afterwards; otherwise as blocks below
 * each other. A text that equals the last one is not written again.
 */
export class Screen {
  readonly #device: () => ScreenDevice;
  #last: string | undefined;
  #isOpen = false;

  /** Reads the size from the device each time: users resize terminals. */
  constructor(device: () => ScreenDevice) {
    this.#device = device;
  }

  show(text: string, status: string): void {
    const { terminal, height, write } = this.#device();
    if (!terminal.isInteractive) {
      if (text !== this.#last) write(this.#last === undefined ? text : `\n--- ${status}\n${text}`);
      this.#last = text;
      return;
    }
    this.#last = text;
    const lines = [...text.trimEnd().split('\n')];
    const body = fitted(lines, height);
    const shown = [status, '', ...body].map((line) => `${line}${clearLine}`).join('\r\n');
    write(`${this.#isOpen ? '' : enter}${home}${shown}${clearBelow}`);
    this.#isOpen = true;
  }

  /** Leaves the last text on the terminal. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#device().write(`${leave}${this.#last ?? ''}`);
  }
}

/** Two lines are taken by the status. */
function fitted(lines: readonly string[], height: number | undefined): readonly string[] {
  if (height === undefined || lines.length + 2 <= height) return lines;
  const room = Math.max(1, height - 3);
  return [...lines.slice(0, room), `… ${lines.length - room} more lines`];
}
