import type { Row } from '../harness.ts';

/** Tables that can be pasted into docs/benchmarks.md, and are readable as text. */
export function markdownOf(rows: readonly Row[]): string {
  const kinds = [...new Set(rows.map((row) => row.work))];
  return kinds
    .map((kind) =>
      tableOf(
        kind ?? '',
        rows.filter((row) => row.work === kind),
      ),
    )
    .join('\n\n');
}

function tableOf(kind: string | number, rows: readonly Row[]): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((column) => column !== 'work');
  const lines = [columns, ...rows.map((row) => columns.map((column) => cellOf(row[column])))];
  const widths = columns.map((_, at) => Math.max(3, ...lines.map((line) => line[at]!.length)));
  const isText = columns.map((column) => rows.some((row) => typeof row[column] === 'string'));
  const padded = (cell: string, at: number) =>
    isText[at] ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!);
  const rule = widths.map((width, at) => (isText[at] ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  const [head, ...body] = lines.map((line) => line.map(padded));
  return [`### ${kind}`, '', ...[head!, rule, ...body].map((line) => `| ${line.join(' | ')} |`)].join('\n');
}

function cellOf(value: string | number | undefined): string {
  if (value === undefined || Number.isNaN(value)) return '';
  return typeof value === 'number' ? value.toLocaleString('en', { maximumFractionDigits: 2 }) : value;
}
