import { bytesText } from '../../kube/quantities/amount-text.ts';
import type {
  DrainPlanReport,
  DrainStep,
  EvictedPodLine,
  LeftLine,
  MovedVolumeLine,
  NodeCommand,
} from '../../queries/drain/drain-report.ts';
import { namesText } from '../../queries/explain/names-text.ts';
import { printableText } from '../../runtime/printable-text.ts';
import { Page, type RenderOptions, renderNotes } from '../output/page.ts';
import { type Column, table } from '../output/table.ts';

/** Keeps the plan of a large node on one screen; `-o wide` shows all. */
const rowsMax = 20;
const leftMax = 10;
const namesMax = 8;

/** Renders the plan as text. */
export function renderDrainPlan(report: DrainPlanReport, options: RenderOptions): string {
  const page = new Page(options);
  const paint = report.left.length > 0 ? page.style.warn : page.style.good;
  page.line(report.summary.split(' ').map(paint).join(' '), 0, 0);
  for (const step of report.steps) renderStep(page, step, options);
  renderLeft(page, report.left, options);
  if (report.stays.length > 0) {
    page.heading('STAYS');
    page.line(`${shortNames(report.stays, options)}: pods of DaemonSets and static pods stay`, 2);
  }
  renderNotes(page, report.notes);
  return page.toString();
}

/** The objects that are left, one a line, as `KIND NAME`. */
export function leftNames({ left }: Pick<DrainPlanReport, 'left'>): string {
  return left.map(({ kind, name }) => `${kind} ${printableText(name)}\n`).join('');
}

function renderStep(page: Page, step: DrainStep, options: RenderOptions): void {
  page.heading(`STEP ${step.number}${step.isDone ? ' (done)' : ''}`);
  page.line(step.title, 2);
  if (step.objects.length > 0) page.line(shortNames(step.objects, options), 4);
  renderRows(page, podColumns, step.pods, options);
  renderRows(page, volumeColumns, step.volumes, options);
  renderCommands(page, step.commands);
}

/** The commands that a user has to run, by node. */
export function renderCommands(page: Page, commands: readonly NodeCommand[]): void {
  for (const { node, command } of commands)
    page.line(`on node ${node}, as root: ${page.style.bold(command)}`, 4);
}

const podColumns: readonly Column<EvictedPodLine>[] = [
  {
    title: 'WAVE',
    cell: ({ wave }) => (wave === undefined ? 'held' : String(wave)),
    align: 'right',
  },
  { title: 'POD', cell: ({ pod }) => pod },
  { title: 'OWNER', cell: ({ owner }) => owner ?? '-', isMinor: true },
  { title: 'TO', cell: ({ to }) => to ?? 'the same node' },
];

const volumeColumns: readonly Column<MovedVolumeLine>[] = [
  { title: 'KIND', cell: ({ kind }) => kind, isMinor: true },
  { title: 'NAME', cell: ({ name }) => name },
  { title: 'CLAIM', cell: ({ claim }) => claim ?? '-', isMinor: true },
  { title: 'SIZE', cell: ({ bytes }) => bytesText(bytes, 'up'), align: 'right' },
  { title: 'FROM', cell: ({ from }) => from, isMinor: true },
  { title: 'TO', cell: ({ to }) => to ?? 'enough others stay' },
];

function renderRows<Row>(
  page: Page,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { isWide, terminal }: RenderOptions,
): void {
  if (rows.length === 0) return;
  const shown = isWide ? rows : rows.slice(0, rowsMax);
  page.lines(table(columns, shown, { width: isWide ? undefined : terminal.width, indent: 4 }));
  if (shown.length < rows.length) page.line(`${rows.length - shown.length} more (-o wide shows them)`, 4);
}

/** The objects that Stowage cannot move, the reasons, and the remedies. */
export function renderLeft(page: Page, left: readonly LeftLine[], { isWide }: RenderOptions): void {
  if (left.length === 0) return;
  page.heading('LEFT');
  const shown = isWide ? left : left.slice(0, leftMax);
  for (const line of shown) page.line(leftText(line, page.style.bold), 2, 4);
  if (shown.length < left.length) page.line(`${left.length - shown.length} more (-o wide shows them)`, 2);
}

function leftText(line: LeftLine, bold: (text: string) => string): string {
  const { kind, name, claim, driver, bytes, fitsOn, why, remedy } = line;
  const facts = [...(bytes === 0 ? [] : [bytesText(bytes, 'up')]), ...(driver === undefined ? [] : [driver])];
  const size = facts.length === 0 ? '' : ` (${facts.join(', ')})`;
  const of = claim === undefined || claim === '' ? '' : ` of claim ${claim}`;
  const place = fitsOn === undefined ? '' : `; a copy fits on ${fitsOn}`;
  return `${kind} ${bold(name)}${of}${size}: ${why}${place}. Remedy: ${remedy}`;
}

function shortNames(names: readonly string[], { isWide }: RenderOptions): string {
  return namesText(names, names.length, isWide ? names.length : namesMax);
}
