import { harmless, widthOf } from './style.ts';

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
 * Titles and rows in columns. If the terminal is too narrow, the widest text columns shrink first, then minor columns are omitted; what is
 * still too long ends in an ellipsis.
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

/** The columns that are shown, with their widths. */
function fitted<Row>(
  all: readonly Filled<Row>[],
  available: number | undefined,
): readonly (Filled<Row> & { readonly width: number })[] {
  const minor = all.findLastIndex(({ column }) => column.isMinor);
  const least = all.map((filled) => leastWidth(filled, minor < 0 ? narrowestName : roomyName));
  const widths = all.map(({ cells }) => cells.reduce((most, text) => Math.max(most, widthOf(text)), 0));
  const taken = () => widths.reduce((sum, width) => sum + width, gap.length * (widths.length - 1));
  for (; available !== undefined && taken() > available; ) {
    const widest = widestAbove(widths, least);
    if (widest === undefined) break;
    widths[widest]! -= 1;
  }
  if (available !== undefined && taken() > available && minor >= 0)
    return fitted(all.toSpliced(minor, 1), available);
  return all.map((filled, at) => ({ ...filled, width: widths[at]! }));
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
