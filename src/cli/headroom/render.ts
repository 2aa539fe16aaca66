import { bytesText } from '../../kube/quantities/amount-text.ts';
import { countOf } from '../../kube/quantities/count-text.ts';
import { namesText } from '../../queries/explain/names-text.ts';
import type {
  HeadroomReport,
  HeadroomRow,
  HeadroomTopology,
} from '../../queries/headroom/headroom-report.ts';
import { printableText } from '../../runtime/printable-text.ts';
import { Page, type RenderOptions, renderNotes } from '../output/page.ts';
import { type Column, table } from '../output/table.ts';

const namesMax = 3;
const reasonsMax = 2;

/** Renders the report as text. */
export function renderHeadroom(report: HeadroomReport, options: RenderOptions): string {
  const page = new Page(options);
  const width = options.isWide ? undefined : options.terminal.width;
  if (report.rows.length === 0) page.line('There is no StorageClass, so no claim fits.');
  else page.lines(table(rowColumns(report), report.rows, { width }));
  renderRunsOut(page, report.rows);
  for (const row of report.rows) renderTopologies(page, row, options);
  renderNotes(page, report.notes);
  return page.toString();
}

/** The names of the classes and workloads of which at least one more fits. */
export function fittingNames({ rows }: HeadroomReport): string {
  return rows
    .filter(({ count }) => count > 0)
    .map(
      ({ of }) => `${printableText(of.replace(/^class /, 'storageclass/'))}
`,
    )
    .join('');
}

function rowColumns({ size }: HeadroomReport): readonly Column<HeadroomRow>[] {
  if (size === undefined)
    return [
      { title: 'REPLICAS OF', cell: ({ of }) => of },
      { title: 'MORE', cell: countText, align: 'right' },
    ];
  return [
    { title: 'CLASS', cell: ({ of }) => of.replace(/^class /, '') },
    { title: 'DRIVER', cell: ({ driver }) => driver ?? '-', isMinor: true },
    { title: 'LARGEST CLAIM', cell: ({ largestBytes }) => sizeText(largestBytes), align: 'right' },
    { title: `MORE OF ${size}`, cell: countText, align: 'right' },
  ];
}

function sizeText(bytes: number | undefined): string {
  return bytes === undefined ? 'any' : bytesText(bytes, 'down');
}

function countText({ count, isCapped }: HeadroomRow): string {
  return `${count.toLocaleString('en-US')}${isCapped ? ' or more' : ''}`;
}

/** Why the next one does not fit, for each row. */
function renderRunsOut(page: Page, rows: readonly HeadroomRow[]): void {
  const limited = rows.filter(({ runsOut }) => runsOut.length > 0);
  if (limited.length === 0) return;
  page.heading('RUNS OUT FIRST');
  for (const { of, runsOut } of limited) {
    const shown = runsOut.slice(0, reasonsMax).map(({ sentence, nodes }) => {
      const where = countOf(nodes, 'node');
      return nodes === 0 ? sentence : `${sentence} (${where})`;
    });
    page.line(`${of.replace(/^class /, '')}: ${shown.join('; ')}`, 2);
  }
}

function renderTopologies(
  page: Page,
  { of, topologies, omittedTopologies, largestBytes }: HeadroomRow,
  { terminal, isWide }: RenderOptions,
): void {
  // One topology says no more than the row itself.
  if (topologies.length + omittedTopologies < 2) return;
  // Names are as they are: Kubernetes distinguishes letters.
  page.heading(of.replace(/^\S+/, (kind) => kind.toUpperCase()));
  const hasSizes = largestBytes !== undefined || topologies.some((one) => one.largestBytes !== undefined);
  const largest: Column<HeadroomTopology> = {
    title: 'LARGEST CLAIM',
    cell: ({ largestBytes: bytes }) => sizeText(bytes),
    align: 'right',
  };
  const columns: readonly Column<HeadroomTopology>[] = [
    { title: 'NODES', cell: ({ nodes, nodeCount }) => namesText(nodes, nodeCount, namesMax) },
    ...(hasSizes ? [largest] : []),
    {
      title: 'MORE',
      cell: ({ count }) => (count === undefined ? 'not counted' : count.toLocaleString('en-US')),
      align: 'right',
    },
  ];
  page.lines(table(columns, topologies, { width: isWide ? undefined : terminal.width, indent: 2 }));
  if (omittedTopologies > 0)
    page.line(`${omittedTopologies.toLocaleString('en-US')} more (-o wide shows more of them)`, 2);
}
