import type { DriftReport, PoolDriftLine } from '../../queries/capacity/drift-report.ts';
import { ageText } from '../../queries/pools/age-text.ts';
import { readableAmount } from '../../queries/pools/amounts.ts';
import { printableText } from '../../runtime/printable-text.ts';
import { Sections, type SectionsOptions } from '../output/sections.ts';
import { type Style, styleOf } from '../output/style.ts';
import type { Column } from '../output/table.ts';

export interface RenderDriftOptions extends SectionsOptions {
  readonly nowMs: number;
}

export function renderDrift({ pools, notes }: DriftReport, options: RenderDriftOptions): string {
  const sections = new Sections(options);
  if (pools.length === 0) sections.line('Nothing to compare: no driver publishes capacity.');
  sections.table('DRIFT', pools, columns(styleOf(options.terminal), options));
  sections.paragraphs('WHAT YOU CAN DO', proposalTexts(pools.filter(hasDrift), options));
  sections.notes(notes);
  return sections.toString();
}

/** `-o wide` and the formats for programs have the proposals for all pools. */
const poolsAdvisedMax = 5;

function proposalTexts(pools: readonly PoolDriftLine[], { isWide }: RenderDriftOptions): readonly string[] {
  const shown = isWide ? pools : pools.slice(0, poolsAdvisedMax);
  const more = pools.length - shown.length;
  return [
    ...shown.flatMap(({ pool, proposals }) => proposals.map((proposal) => `${pool}: ${proposal}`)),
    ...(more > 0 ? [`and for ${more.toLocaleString('en-US')} more pools; -o wide shows all`] : []),
  ];
}

/** The names of the pools with a difference, one a line. */
export function driftNames({ pools }: DriftReport): string {
  return pools
    .filter(hasDrift)
    .map(({ pool, source }) => `${source.toLowerCase()}/${printableText(pool)}\n`)
    .join('');
}

function hasDrift({ cause }: PoolDriftLine): boolean {
  return cause !== 'none' && cause !== 'unknown';
}

function columns(style: Style, { isWide, nowMs }: RenderDriftOptions): (Column<PoolDriftLine> | undefined)[] {
  const amount = (text: string | undefined) => (text === undefined ? 'unknown' : readableAmount(text));
  return [
    { title: 'CLASS', cell: ({ storageClass }) => storageClass },
    { title: 'POOL', cell: ({ pool }) => pool },
    { title: 'REPORTED', cell: ({ reported }) => amount(reported), align: 'right' },
    { title: 'OURS', cell: ({ ours }) => amount(ours), align: 'right' },
    { title: 'FOREIGN', cell: ({ foreign }) => amount(foreign?.storage), align: 'right' },
    { title: 'LEAKED', cell: ({ leaked }) => amount(leaked?.storage), align: 'right' },
    { title: 'SHRUNK', cell: ({ shrunk }) => amount(shrunk), align: 'right' },
    isWide ? { title: 'LOST', cell: ({ lost }) => amount(lost?.storage), align: 'right' } : undefined,
    { title: 'PROMISED', cell: ({ promised }) => amount(promised), align: 'right', isMinor: true },
    { title: 'DIFFERENCE', cell: ({ difference }) => amount(difference), align: 'right' },
    { title: 'SINCE', cell: ({ since }) => ageText(since, nowMs), align: 'right' },
    {
      title: 'CAUSE',
      cell: (line) => (hasDrift(line) ? style.bad(causes[line.cause]) : causes[line.cause]),
    },
    isWide ? { title: 'BASELINE', cell: ({ baseline }) => baseline?.measuredAt ?? '-' } : undefined,
  ];
}

const causes = {
  none: '-',
  unknown: 'not compared',
  'foreign-use': 'foreign use',
  leak: 'leak',
  shrunk: 'shrunk',
  grown: 'grown',
  lost: 'lost volumes',
} as const;
