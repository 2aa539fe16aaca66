import { bytesOf } from '../../kube/quantities/bytes.ts';
import type { CapacityReport, ClassCapacity, VolumesCapacity } from '../../queries/capacity/report.ts';
import { readableAmount } from '../../queries/pools/amounts.ts';
import { capacityReportAgeText, publisherText } from '../../queries/pools/capacity-report-source.ts';
import type { PoolCapacity } from '../../queries/pools/pool-reader.ts';
import { reachText } from '../../queries/pools/reach.ts';
import { printableText } from '../../runtime/printable-text.ts';
import { Sections, type SectionsOptions } from '../output/sections.ts';
import { type Style, styleOf } from '../output/style.ts';
import type { Column } from '../output/table.ts';
import { type Bar, barFor } from './bar.ts';

export interface RenderCapacityOptions extends SectionsOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly nowMs: number;
}

/** Column builders that all tables share. */
interface Means extends RenderCapacityOptions {
  readonly style: Style;
  readonly bar: Bar | undefined;
}

export function renderCapacity(report: CapacityReport, options: RenderCapacityOptions): string {
  const { classes, pools, volumes, notes } = report;
  const style = styleOf(options.terminal);
  const means = { ...options, style, bar: barFor(options.terminal, options.env, style) };
  const sections = new Sections(options);
  if (classes.length + pools.length + volumes.length === 0)
    sections.line(
      'Nothing to measure: no class makes volumes, no driver publishes capacity, no volume exists.',
    );
  sections.table('CLASSES', classes, classColumns(means));
  sections.table('POOLS', pools, poolColumns(means, pools.some(isDoubtful)));
  sections.table('EXISTING VOLUMES', volumes, volumeColumns(means));
  sections.notes(notes);
  return sections.toString();
}

/** The names of the pools, one a line. */
export function poolNames({ pools }: CapacityReport): string {
  return pools.map(({ pool, source }) => `${source.toLowerCase()}/${printableText(pool)}\n`).join('');
}

function orUnknown(quantity: string | undefined): string {
  return quantity === undefined ? 'unknown' : readableAmount(quantity);
}

function classColumns({ isWide }: Means): (Column<ClassCapacity> | undefined)[] {
  return [
    { title: 'CLASS', cell: ({ storageClass }) => storageClass },
    { title: 'POOLS', cell: ({ poolCount }) => String(poolCount), align: 'right' },
    { title: 'TOTAL', cell: ({ total }) => orUnknown(total), align: 'right' },
    { title: 'USED', cell: ({ used }) => orUnknown(used), align: 'right' },
    isWide ? { title: 'REPORTED', cell: ({ reported }) => orUnknown(reported), align: 'right' } : undefined,
    { title: 'FREE', cell: ({ free }) => orUnknown(free), align: 'right' },
    { title: 'LARGEST', cell: ({ largestVolume }) => orUnknown(largestVolume), align: 'right' },
    isWide ? { title: 'PLACEMENT', cell: ({ placement = '-' }) => placement } : undefined,
    {
      title: 'PROVISIONER',
      cell: ({ provisioner, isTracked }) =>
        isTracked ? provisioner : `${provisioner} (does not say how much there is)`,
    },
  ];
}

/** A pool whose figures no publisher keeps up to date. */
function isDoubtful({ isExpired, isOrphaned }: PoolCapacity): boolean {
  return isExpired || isOrphaned;
}

function stateText({ isExpired, isOrphaned }: PoolCapacity, style: Style): string {
  const states = [...(isExpired ? ['expired'] : []), ...(isOrphaned ? ['no driver'] : [])];
  return style.bad(states.join(', '));
}

function poolColumns(
  { style, bar, isWide, nowMs }: Means,
  hasStates: boolean,
): (Column<PoolCapacity> | undefined)[] {
  return [
    { title: 'CLASS', cell: ({ storageClass }) => storageClass },
    { title: 'POOL', cell: ({ pool }) => pool },
    { title: 'TOTAL', cell: ({ total }) => orUnknown(total), align: 'right', isMinor: true },
    { title: 'USED', cell: ({ used }) => orUnknown(used), align: 'right' },
    isWide
      ? { title: 'REPORTED', cell: ({ reported }) => orNone(reported), align: 'right', isMinor: true }
      : undefined,
    { title: 'PROMISED', cell: ({ promised }) => readableAmount(promised), align: 'right' },
    { title: 'FREE', cell: ({ free }) => freeText(free, style), align: 'right' },
    { title: 'LARGEST', cell: (line) => largestText(line, style), align: 'right', isMinor: true },
    bar && {
      title: 'TAKEN/FREE',
      cell: ({ promised, used = '0', reported = '0' }) =>
        bar(bytesOf(used) + bytesOf(promised), bytesOf(used) + bytesOf(reported)),
      isMinor: true,
    },
    hasStates ? { title: 'STATE', cell: (line) => stateText(line, style) } : undefined,
    { title: 'AGE', cell: (line) => capacityReportAgeText(line, nowMs), align: 'right', isMinor: true },
    isWide ? { title: 'SOURCE', cell: sourceText } : undefined,
    isWide ? { title: 'SHARES WITH', cell: ({ sharesWith }) => sharesWith.join(', ') || '-' } : undefined,
    { title: 'PUBLISHED BY', cell: publisherText, isMinor: true },
    { title: 'REACHED FROM', cell: ({ reach }) => reachText(reach) },
  ];
}

function orNone(quantity: string | undefined): string {
  return quantity === undefined ? 'none' : readableAmount(quantity);
}

function freeText(free: string, style: Style): string {
  return free.startsWith('-') ? style.bad(readableAmount(free)) : readableAmount(free);
}

function largestText({ largestVolume, isExpired }: PoolCapacity, style: Style): string {
  return isExpired ? style.bad('expired') : readableAmount(largestVolume);
}

function sourceText({ source, driver }: PoolCapacity): string {
  return driver === undefined ? source : `${source} ${driver}`;
}

function volumeColumns({ bar }: Means): (Column<VolumesCapacity> | undefined)[] {
  return [
    { title: 'CLASS', cell: ({ storageClass }) => storageClass || '-' },
    { title: 'VOLUMES', cell: ({ count }) => String(count), align: 'right' },
    { title: 'TOTAL', cell: ({ total }) => readableAmount(total), align: 'right' },
    { title: 'UNCLAIMED', cell: ({ freeCount }) => String(freeCount), align: 'right', isMinor: true },
    { title: 'FREE', cell: ({ free }) => readableAmount(free), align: 'right' },
    {
      title: 'LARGEST',
      cell: ({ largestFree }) => readableAmount(largestFree),
      align: 'right',
      isMinor: true,
    },
    bar && {
      title: 'TAKEN/FREE',
      cell: ({ total, free }) => bar(bytesOf(total) - bytesOf(free), bytesOf(total)),
      isMinor: true,
    },
    { title: 'REACHED FROM', cell: ({ reach }) => reachText(reach) },
  ];
}
