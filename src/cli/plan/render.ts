import {
  copiedText,
  noNodeText,
  noPlaceText,
  planColumns,
  planParts,
  planReasons,
  whereNow,
} from '../../engine/what-if/plan-words.ts';
import { bytesText } from '../../kube/quantities/amount-text.ts';
import { namesText } from '../../queries/explain/names-text.ts';
import { nodeReasonTexts } from '../../queries/explain/reason-text.ts';
import {
  type DeletedPodLine,
  type PlanReport,
  type PodMoveLine,
  type StrandedPodLine,
  stuckVolumes,
  type VolumeCopyLine,
} from '../../queries/plan/plan-report.ts';
import { printableText } from '../../runtime/printable-text.ts';
import { Page, type RenderOptions, renderNotes } from '../output/page.ts';
import { type Column, table } from '../output/table.ts';

/** Keeps a drain of a large node on one screen; `-o wide` shows all. */
const movesMax = 20;
const strandedMax = 10;
const reasonsMax = 3;
const nodesMax = 12;
const namesMax = 2;
const podNamesMax = 3;

/** Renders the plan as text. */
export function renderPlan(report: PlanReport, options: RenderOptions): string {
  const page = new Page(options);
  const isBad = report.stranded.length + stuckVolumes(report).length > 0;
  const paint = isBad ? page.style.bad : page.style.good;
  page.line(report.summary.split(' ').map(paint).join(' '), 0, 0);
  renderTable(page, heading('moves'), moveColumns, report.moves, { max: movesMax, options });
  renderStranded(page, heading('stranded'), report.stranded, options);
  renderStranded(page, heading('stuck'), report.stuck, options);
  renderGone(page, heading('lost'), report.lost, { why: planReasons.lost, options });
  renderGone(page, heading('removed'), report.removed, { why: planReasons.removed, options });
  renderGone(page, heading('stays'), report.stays, { why: planReasons.stays, options });
  renderCopies(page, report, options);
  if (options.isWide || report.nodes.length <= nodesMax)
    renderTable(page, heading('nodes'), nodeColumns, report.nodes, { max: nodesMax, options });
  renderNotes(page, report.notes);
  return page.toString();
}

/** The pods without a node, as kubectl accepts them. */
export function strandedNames({ stranded }: PlanReport): string {
  return stranded.map(({ pod }) => `pod ${printableText(pod)}\n`).join('');
}

/** As everywhere on the command line, in capitals. */
function heading(part: keyof typeof planParts): string {
  return planParts[part].toUpperCase();
}

function column(name: keyof typeof planColumns): string {
  return planColumns[name].toUpperCase();
}

const moveColumns: readonly Column<PodMoveLine>[] = [
  { title: column('pod'), cell: ({ pod }) => pod },
  { title: column('from'), cell: ({ from }) => from ?? noNodeText },
  { title: column('to'), cell: ({ to }) => to },
  { title: column('cause'), cell: ({ cause }) => cause, isMinor: true },
];

const copyColumns: readonly Column<VolumeCopyLine>[] = [
  { title: column('volume'), cell: ({ volume }) => volume, isMinor: true },
  { title: column('claim'), cell: ({ claim }) => claim },
  { title: column('size'), cell: ({ bytes }) => bytesText(bytes, 'up'), align: 'right' },
  { title: column('from'), cell: ({ from }) => from },
  { title: column('to'), cell: ({ to }) => to ?? noPlaceText },
];

const nodeColumns: readonly Column<PlanReport['nodes'][number]>[] = [
  { title: 'NODE', cell: ({ node, isNew }) => (isNew ? `${node} (new)` : node) },
  { title: 'PODS BEFORE', cell: ({ podsBefore }) => String(podsBefore), align: 'right' },
  { title: 'AFTER', cell: ({ podsAfter }) => String(podsAfter), align: 'right' },
];

function renderTable<Row>(
  page: Page,
  title: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { max, options }: { readonly max: number; readonly options: RenderOptions },
): void {
  if (rows.length === 0) return;
  page.heading(title);
  const shown = options.isWide ? rows : rows.slice(0, max);
  page.lines(
    table(columns, shown, { width: options.isWide ? undefined : options.terminal.width, indent: 2 }),
  );
  if (shown.length < rows.length) page.line(`${rows.length - shown.length} more (-o wide shows them)`, 2);
}

/** Pods with the same reasons are one entry. */
function renderStranded(
  page: Page,
  title: string,
  pods: readonly StrandedPodLine[],
  { isWide }: RenderOptions,
): void {
  if (pods.length === 0) return;
  page.heading(title);
  const alike = new Map<string, StrandedPodLine[]>();
  for (const line of pods) {
    const { owner, from, cause, message, podReasons, nodes } = line;
    const key = isWide ? line.pod : JSON.stringify([owner, from, cause, message, podReasons, nodes]);
    alike.set(key, [...(alike.get(key) ?? []), line]);
  }
  const groups = [...alike.values()];
  const shown = isWide ? groups : groups.slice(0, strandedMax);
  for (const group of shown) renderStrandedPods(page, group, isWide);
  const left = groups.slice(shown.length).flat().length;
  if (left > 0) page.line(`${left} more (-o wide shows them)`, 2);
}

function renderStrandedPods(page: Page, group: readonly StrandedPodLine[], isWide: boolean): void {
  const { from, cause, message, podReasons, nodes } = group[0]!;
  const was = ` (${whereNow(from, cause)})`;
  const shownNames = group.slice(0, podNamesMax).map(({ pod }) => pod);
  const names = namesText(shownNames, group.length, podNamesMax).split(', ').map(page.style.bold).join(', ');
  page.line(`${names}${was}${nodes.length + podReasons.length === 0 ? `: ${message}` : ''}`, 2);
  for (const { claim, sentence } of podReasons)
    page.line(`${claim === undefined ? '' : `${claim}: `}${sentence}`, 4);
  const shown = isWide ? nodes : nodes.slice(0, reasonsMax);
  for (const { nodes: reached, count, reasons } of shown)
    page.line(`${namesText(reached, count, namesMax)}: ${nodeReasonTexts(reasons).join('; ')}`, 4);
  const hidden = nodes.length - shown.length;
  if (hidden === 1) page.line('and 1 more set of reasons (-o wide shows it)', 4);
  if (hidden > 1) page.line(`and ${hidden} more sets of reasons (-o wide shows them)`, 4);
}

function renderGone(
  page: Page,
  title: string,
  pods: readonly DeletedPodLine[],
  { why, options }: { readonly why: string; readonly options: RenderOptions },
): void {
  if (pods.length === 0) return;
  page.heading(title);
  const names = pods.map(({ pod, node }) => (node === undefined ? pod : `${pod} on ${node}`));
  page.line(`${namesText(names, names.length, options.isWide ? names.length : strandedMax)}: ${why}`, 2);
}

function renderCopies(page: Page, { copies, copiedBytes }: PlanReport, options: RenderOptions): void {
  if (copies.length === 0) return;
  renderTable(page, heading('copies'), copyColumns, copies, { max: movesMax, options });
  page.line(copiedText(bytesText(copiedBytes, 'up')), 2);
}
