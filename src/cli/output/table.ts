import { harmless, widthOf } from './style.ts';
import { wrap } from './wrap.ts';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => string;
  /** Numbers are aligned right and never truncated. */
  readonly align?: 'right';
  /** Omitted if the terminal is too narrow. */
  readonly isMinor?: true;
}

export interface TableOptions {
  readonly width: number | undefined;
  readonly indent?: number;
}

const gap = '   ';
/** Names keep this width while a minor column can be omitted; below the second width they can't be distinguished. */
const roomyName = 16;
const narrowestName = 10;

/**
 * Titles and rows in columns. If the terminal is too narrow, the widest text columns shrink first, then minor columns are omitted. If even then
 * a row does not fit, or names that differ would look the same, each row is a paragraph with its titles.
 */
export function table<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { width, indent = 0 }: TableOptions,
): readonly string[] {
  const available = width === undefined ? undefined : width - indent;
  const all = columns.map((column) => ({
    column,
    cells: [column.title, ...rows.map((row) => harmless(column.cell(row)))],
  }));
  const shown = fitted(all, available);
  if (shown === undefined) return paragraphs(all, rows.length, { width, indent });
  return ['', ...rows].map((_, line) => {
    const padded = shown.map(({ column, cells, width: columnWidth }, at) =>
      pad(shortened(cells[line]!, columnWidth, at === shown.length - 1), columnWidth, column.align),
    );
    return clip(`${' '.repeat(indent)}${padded.join(gap)}`.trimEnd(), width);
  });
}

interface Filled<Row> {
  readonly column: Column<Row>;
  /** The title first. */
  readonly cells: readonly string[];
}

interface Fitted<Row> extends Filled<Row> {
  readonly width: number;
}

/** The columns that are shown, with their widths; undefined if a reader could not tell rows apart. */
function fitted<Row>(
  all: readonly Filled<Row>[],
  available: number | undefined,
): readonly Fitted<Row>[] | undefined {
  const minor = all.findLastIndex(({ column }) => column.isMinor);
  const least = all.map((filled) => leastWidth(filled, minor < 0 ? narrowestName : roomyName));
  const widths = all.map(({ cells }) => cells.reduce((most, text) => Math.max(most, widthOf(text)), 0));
  const taken = () => widths.reduce((sum, width) => sum + width, gap.length * (widths.length - 1));
  for (; available !== undefined && taken() > available; ) {
    const widest = widestAbove(widths, least);
    if (widest === undefined) break;
    widths[widest]! -= 1;
  }
  const shown = all.map((filled, at) => ({ ...filled, width: widths[at]! }));
  if (available === undefined || (taken() <= available && shown.every(isReadable))) return shown;
  return minor < 0 ? undefined : fitted(all.toSpliced(minor, 1), available);
}

/** Whether cells that differ still do when they are shortened. Of a sentence the beginning is enough, if it is long enough. */
function isReadable<Row>({ cells, width }: Fitted<Row>, at: number, all: readonly Fitted<Row>[]): boolean {
  const isLast = at === all.length - 1;
  const long = cells.filter((cell) => widthOf(cell) > width);
  if (long.length === 0) return true;
  if (isLast && long.some((cell) => cell.includes(' '))) return width >= roomyName;
  const texts = new Set(cells);
  return new Set([...texts].map((cell) => shortened(cell, width, isLast))).size === texts.size;
}

/** `TITLE cell` for each cell that has something. */
function paragraphs<Row>(
  all: readonly Filled<Row>[],
  count: number,
  { width, indent }: Required<TableOptions>,
): readonly string[] {
  return Array.from({ length: count }, (_, row) => {
    const facts = all.flatMap(({ column, cells }) => {
      const cell = cells[row + 1]!.trim();
      return cell === '' || cell === '-' ? [] : [`${column.title}${joint}${unbroken(cell)}`];
    });
    return wrap(facts.join(', '), { width, indent }).map((line) => line.replaceAll(joint, ' '));
  }).flat();
}

/** A space at which no line ends. */
const joint = '\u00a0';

/** A line that ended within coloured text would colour what is before the next one. */
function unbroken(cell: string): string {
  return widthOf(cell) === cell.length ? cell : cell.replaceAll(' ', joint);
}

/** Numbers and coloured text are never truncated: a truncated escape sequence would colour everything after it. */
function leastWidth<Row>({ column, cells }: Filled<Row>, nameWidth: number): number {
  const isWhole = column.align === 'right' || cells.some((text) => widthOf(text) !== text.length);
  return isWhole ? Number.POSITIVE_INFINITY : Math.max(column.title.length, nameWidth);
}

function widestAbove(widths: readonly number[], least: readonly number[]): number | undefined {
  let widest: number | undefined;
  for (const [at, width] of widths.entries())
    if (width > least[at]! && (widest === undefined || width > widths[widest]!)) widest = at;
  return widest;
}

/** Names differ at their ends, so they are shortened in the middle; the last column may contain sentences. */
function shortened(text: string, width: number, isLast: boolean): string {
  if (widthOf(text) <= width) return text;
  const tail = isLast ? 0 : Math.floor((width - 1) / 2);
  return `${text.slice(0, width - 1 - tail)}…${tail === 0 ? '' : text.slice(-tail)}`;
}

function pad(text: string, width: number, align: 'right' | undefined): string {
  const space = ' '.repeat(Math.max(0, width - widthOf(text)));
  return align === 'right' ? `${space}${text}` : `${text}${space}`;
}

/** Coloured lines may overflow. */
function clip(line: string, width: number | undefined): string {
  if (width === undefined || line.length <= width || line.length !== widthOf(line)) return line;
  return `${line.slice(0, width - 1)}…`;
}
