import type { Note } from '../../queries/view/note.ts';
import { fieldLines } from './field-lines.ts';
import { harmless, styleOf } from './style.ts';
import { type Column, table } from './table.ts';
import type { Terminal } from './terminal.ts';
import { wrap } from './wrap.ts';

export interface SectionsOptions {
  readonly terminal: Terminal;
  /** Show every row and column. */
  readonly isWide: boolean;
}

/** `-o wide` and the formats for programs show all rows. */
const rowsShownMax = 50;

/** Tables with headings, one after the other; empty tables are omitted. */
export class Sections {
  readonly #options: SectionsOptions;
  readonly #parts: (readonly string[])[] = [];

  constructor(options: SectionsOptions) {
    this.#options = options;
  }

  /** Undefined columns are omitted. */
  table<Row>(title: string, rows: readonly Row[], columns: readonly (Column<Row> | undefined)[]): void {
    if (rows.length === 0) return;
    const { terminal, isWide } = this.#options;
    const shown = isWide ? rows : rows.slice(0, rowsShownMax);
    const more = rows.length - shown.length;
    this.#parts.push([
      styleOf(terminal).bold(title),
      ...table(
        columns.filter((column) => column !== undefined),
        shown,
        // Every column was asked for, whole; terminals wrap longer lines.
        { width: isWide ? undefined : terminal.width, indent: 2 },
      ),
      ...(more > 0 ? [`  and ${more.toLocaleString('en-US')} more; -o wide shows all`] : []),
    ]);
  }

  line(text: string): void {
    this.#parts.push(wrap(harmless(text), { width: this.#options.terminal.width }));
  }

  /** One field a line; a field without a value is shown as `-`. */
  fields(fields: readonly (readonly [name: string, value: string | undefined])[]): void {
    this.#parts.push(fieldLines(fields, this.#options.terminal.width));
  }

  notes(notes: readonly Note[]): void {
    this.paragraphs(
      'NOTES',
      notes.map(({ text }) => text),
    );
  }

  /** Texts under a heading; none without texts. */
  paragraphs(title: string, texts: readonly string[]): void {
    if (texts.length === 0) return;
    const { terminal } = this.#options;
    const lines = texts.flatMap((text) => wrap(harmless(text), { width: terminal.width, indent: 2 }));
    this.#parts.push([styleOf(terminal).bold(title), ...lines]);
  }

  toString(): string {
    return `${this.#parts.map((lines) => lines.join('\n')).join('\n\n')}\n`;
  }
}
