import type { EventLine } from '../../queries/explain/explanation.ts';
import type { Note } from '../../queries/view/note.ts';
import { harmless, type Style, styleOf } from './style.ts';
import type { Terminal } from './terminal.ts';
import { wrap } from './wrap.ts';

export interface RenderOptions {
  readonly terminal: Terminal;
  /** Show everything. */
  readonly isWide: boolean;
}

/** Builds a text from headings and lines that fit the terminal. */
export class Page {
  readonly style: Style;
  readonly #width: number | undefined;
  readonly #lines: string[] = [];

  constructor({ terminal }: RenderOptions) {
    this.style = styleOf(terminal);
    this.#width = terminal.width;
  }

  /** Starts a section after an empty line. */
  heading(text: string): void {
    const lines = wrap(harmless(text), { width: this.#width });
    this.#lines.push('', ...lines.map((line) => this.style.bold(line)));
  }

  line(text: string, indent = 0, hanging = 2): void {
    this.#lines.push(...wrap(harmless(text), { width: this.#width, indent, hanging }));
  }

  /** Lines that fit already, such as those of a table. */
  lines(fitting: readonly string[]): void {
    this.#lines.push(...fitting);
  }

  toString(): string {
    return `${this.#lines.join('\n')}\n`;
  }
}

export function renderEvents(page: Page, events: readonly EventLine[]): void {
  if (events.length === 0) return;
  page.heading('EVENTS');
  for (const { type, reason, message, count } of events) {
    const times = count > 1 ? ` (${count} times)` : '';
    const name = type === 'Warning' ? page.style.warn(reason) : reason;
    page.line(`${name}${times}: ${message}`, 2);
  }
}

export function renderNotes(page: Page, notes: readonly Note[]): void {
  if (notes.length === 0) return;
  page.heading('NOTES');
  for (const { text } of notes) page.line(text, 2);
}

/** Instead of the candidates that are left out. */
export function lessCloseText(omitted: number): string {
  return `and ${omitted.toLocaleString('en-US')} more that come less close`;
}
