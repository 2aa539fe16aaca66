import { widthOf } from './style.ts';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => string;
  /** Numbers stand at the right. */
  readonly align?: 'right';
}

export interface TableOptions {
  readonly width: number | undefined;
  readonly indent?: number;
}

const gap = '   ';

/** Titles and rows in columns. Where the width isn't enough, the last column is cut off with an ellipsis. */
export function table<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { width, indent = 0 }: TableOptions,
): readonly string[] {
  const cells = [
    columns.map(({ title }) => title),
    ...rows.map((row) => columns.map(({ cell }) => cell(row))),
  ];
  const widths = columns.map((_, at) => cells.reduce((most, line) => Math.max(most, widthOf(line[at]!)), 0));
  return cells.map((line) => {
    const padded = line.map((text, at) => pad(text, widths[at]!, columns[at]!.align));
    return clip(`${' '.repeat(indent)}${padded.join(gap)}`.trimEnd(), width);
  });
}

function pad(text: string, width: number, align: 'right' | undefined): string {
  const space = ' '.repeat(width - widthOf(text));
  return align === 'right' ? `${space}${text}` : `${text}${space}`;
}

/** Lines with colour are let run over: a sequence that is cut in two would colour all that follows. */
function clip(line: string, width: number | undefined): string {
  if (width === undefined || line.length <= width || line.length !== widthOf(line)) return line;
  return `${line.slice(0, width - 1)}…`;
}
