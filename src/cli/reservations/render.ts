import { ageText } from '../../queries/pools/age-text.ts';
import { readableAmount } from '../../queries/pools/amounts.ts';
import { capacityReportAgeText } from '../../queries/pools/capacity-report-source.ts';
import type { ExpansionInFlight } from '../../queries/pools/expansions.ts';
import { reachText } from '../../queries/pools/reach.ts';
import type {
  ClaimInFlight,
  HeldVolume,
  HoldState,
  InlineVolumeInFlight,
  NominatedPod,
  PromisedPool,
  ReservationsReport,
} from '../../queries/reservations/report.ts';
import { printableText } from '../../runtime/printable-text.ts';
import { Sections, type SectionsOptions } from '../output/sections.ts';
import { type Style, styleOf } from '../output/style.ts';
import type { Column } from '../output/table.ts';

export interface RenderReservationsOptions extends SectionsOptions {
  readonly nowMs: number;
}

export function renderReservations(report: ReservationsReport, options: RenderReservationsOptions): string {
  const { volumes, claims, inlineVolumes, expansions, pools, pods, notes } = report;
  const sections = new Sections(options);
  const isEmpty = [volumes, claims, inlineVolumes, expansions, pools, pods].every(
    ({ length }) => length === 0,
  );
  if (isEmpty) sections.line('Nothing is held: no volume has a claim, no claim a node, no pod is nominated.');
  sections.table('VOLUMES', volumes, volumeColumns(options));
  sections.table('CLAIMS IN FLIGHT', claims, claimColumns(options));
  sections.table('INLINE VOLUMES', inlineVolumes, inlineColumns);
  sections.table('EXPANSIONS', expansions, expansionColumns);
  sections.table('PROMISED OF POOLS', pools, poolColumns(options));
  sections.table('NOMINATED PODS', pods, podColumns(options));
  sections.notes(notes);
  return sections.toString();
}

/** The owners of reservations, one a line, for `xargs -L1 stowage explain`. */
export function reservationNames(report: ReservationsReport): string {
  const { volumes, claims, inlineVolumes, expansions, pods } = report;
  const names = [
    ...volumes.map(({ claim }) => `claim ${claim}`),
    ...[...claims, ...expansions].map(({ claim }) => `claim ${claim}`),
    ...[...inlineVolumes, ...pods].map(({ pod }) => `pod ${pod}`),
  ];
  return [...new Set(names)].map((name) => `${printableText(name)}\n`).join('');
}

function volumeColumns({ terminal, isWide }: RenderReservationsOptions): (Column<HeldVolume> | undefined)[] {
  const style = styleOf(terminal);
  return [
    { title: 'CLAIM', cell: ({ claim }) => claim },
    { title: 'VOLUME', cell: ({ volume }) => volume },
    { title: 'SIZE', cell: ({ size }) => readableAmount(size), align: 'right' },
    { title: 'STATE', cell: ({ state }) => stateText(state, style) },
    { title: 'BY', cell: ({ boundBy }) => boundBy, isMinor: true },
    isWide ? { title: 'CLASS', cell: ({ storageClass }) => orDash(storageClass) } : undefined,
    isWide ? { title: 'PHASE', cell: ({ phase }) => orDash(phase) } : undefined,
    { title: 'REACHED FROM', cell: ({ reach }) => reachText(reach) },
  ];
}

function stateText(state: HoldState, style: Style): string {
  switch (state) {
    case 'Bound':
      return style.good(state);
    case 'InFlight':
    case 'RollingBack':
    case 'Awaited':
      return style.warn(state);
    case 'Released':
    case 'Misplaced':
      return style.bad(state);
    case 'Unknown':
      return state;
  }
}

function claimColumns(options: RenderReservationsOptions): (Column<ClaimInFlight> | undefined)[] {
  const { isWide, nowMs } = options;
  return [
    { title: 'CLAIM', cell: ({ claim }) => claim },
    { title: 'NODE', cell: ({ node }) => node },
    { title: 'SIZE', cell: ({ size }) => readableAmount(size), align: 'right' },
    {
      title: 'POOL',
      cell: ({ pool, poolHint }) => pool ?? (poolHint === undefined ? '-' : `${poolHint} (gone)`),
    },
    { title: 'STATE', cell: ({ state }) => state },
    {
      title: 'WAITING',
      cell: ({ waitingSince, waitingSinceFrom }) =>
        `${waitingSinceFrom === 'creation' ? '< ' : ''}${ageText(waitingSince, nowMs)}`,
      align: 'right',
    },
    isWide ? { title: 'CLASS', cell: ({ storageClass }) => orDash(storageClass) } : undefined,
    isWide ? { title: 'PODS', cell: ({ pods }) => orDash(pods.join(', ')) } : undefined,
  ];
}

const inlineColumns: readonly Column<InlineVolumeInFlight>[] = [
  { title: 'POD', cell: ({ pod }) => pod },
  { title: 'VOLUME', cell: ({ volume }) => volume },
  { title: 'NODE', cell: ({ node }) => node },
  { title: 'SIZE', cell: ({ size }) => readableAmount(size), align: 'right' },
  { title: 'POOL', cell: ({ pool = '-' }) => pool },
];

const expansionColumns: readonly Column<ExpansionInFlight>[] = [
  { title: 'CLAIM', cell: ({ claim }) => claim },
  { title: 'FROM', cell: ({ from }) => readableAmount(from), align: 'right' },
  { title: 'TO', cell: ({ to }) => readableAmount(to), align: 'right' },
  { title: 'GROWTH', cell: ({ growth }) => readableAmount(growth), align: 'right' },
  { title: 'POOL', cell: ({ pool = '-' }) => pool },
  { title: 'STATE', cell: ({ state }) => state },
  {
    title: 'MISSING',
    cell: ({ missing }) => (missing === undefined ? '-' : readableAmount(missing)),
    align: 'right',
  },
];

function poolColumns({
  terminal,
  isWide,
  nowMs,
}: RenderReservationsOptions): (Column<PromisedPool> | undefined)[] {
  const style = styleOf(terminal);
  const orUnknown = (amount: string | undefined) =>
    amount === undefined ? 'unknown' : readableAmount(amount);
  return [
    { title: 'POOL', cell: ({ pool }) => pool },
    { title: 'CLASS', cell: ({ storageClass }) => storageClass },
    { title: 'TOTAL', cell: ({ total }) => orUnknown(total), align: 'right', isMinor: true },
    { title: 'USED', cell: ({ used }) => orUnknown(used), align: 'right', isMinor: true },
    isWide
      ? { title: 'REPORTED', cell: ({ reported }) => readableAmount(reported), align: 'right' }
      : undefined,
    { title: 'PROMISED', cell: ({ promised }) => readableAmount(promised), align: 'right' },
    {
      title: 'FREE',
      cell: ({ free }) => (free.startsWith('-') ? style.bad(readableAmount(free)) : readableAmount(free)),
      align: 'right',
    },
    { title: 'AGE', cell: (line) => capacityReportAgeText(line, nowMs), align: 'right', isMinor: true },
    { title: 'PUBLISHED BY', cell: ({ publishedBy = '-' }) => publishedBy, isMinor: true },
    { title: 'TO', cell: promiseText },
  ];
}

function promiseText({ claims, inlineVolumes }: PromisedPool): string {
  return [
    ...claims.map(
      ({ claim, size, isDeleted, isExpansion }) =>
        `${claim}${isDeleted ? ' (deleted)' : ''}${isExpansion ? ' (expansion)' : ''} ${readableAmount(size)}`,
    ),
    ...inlineVolumes.map(
      ({ pod, volume, size }) => `inline volume ${volume} of pod ${pod} ${readableAmount(size)}`,
    ),
  ].join(', ');
}

function podColumns({ isWide, nowMs }: RenderReservationsOptions): (Column<NominatedPod> | undefined)[] {
  return [
    { title: 'POD', cell: ({ pod }) => pod },
    { title: 'NODE', cell: ({ node }) => node },
    { title: 'PRIORITY', cell: ({ priority }) => String(priority), align: 'right' },
    { title: 'WAITING', cell: ({ waitingSince }) => ageText(waitingSince, nowMs), align: 'right' },
    isWide ? { title: 'SCHEDULER', cell: ({ schedulerName }) => schedulerName } : undefined,
  ];
}

function orDash(text: string): string {
  return text === '' ? '-' : text;
}
