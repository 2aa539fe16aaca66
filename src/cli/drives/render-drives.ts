import { stateText } from '../../queries/drives/drive-lines.ts';
import type {
  DriveLine,
  DriveNodeLine,
  DriveNodesReport,
  DrivesReport,
  DriveVolumeLine,
  DriveVolumesReport,
} from '../../queries/drives/drives-report.ts';
import { ageText } from '../../queries/pools/age-text.ts';
import { byteText } from '../output/byte-text.ts';
import { driveBarFor } from '../output/drive-bar.ts';
import { fieldLines } from '../output/field-lines.ts';
import { Sections, type SectionsOptions } from '../output/sections.ts';
import { type Style, styleOf } from '../output/style.ts';
import type { Column } from '../output/table.ts';
import type { Terminal } from '../output/terminal.ts';

export interface RenderDrivesOptions extends SectionsOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly nowMs: number;
}

export function renderDrives({ drives, notes }: DrivesReport, options: RenderDrivesOptions): string {
  const sections = new Sections(options);
  if (drives.length === 0)
    sections.line('There are no drives. stowage drives discover shows the devices of a node.');
  sections.table('DRIVES', drives, driveColumns(options));
  sections.notes(notes);
  return sections.toString();
}

export function renderDriveVolumes(
  { volumes, notes }: DriveVolumesReport,
  options: RenderDrivesOptions,
): string {
  const sections = new Sections(options);
  if (volumes.length === 0) sections.line('There are no volumes on drives.');
  sections.table('VOLUMES', volumes, volumeColumns(options));
  sections.notes(notes);
  return sections.toString();
}

export function renderDriveNodes({ nodes, notes }: DriveNodesReport, options: RenderDrivesOptions): string {
  const sections = new Sections(options);
  if (nodes.length === 0)
    sections.line('No node has drives. stowage drives discover shows the devices of a node.');
  sections.table('NODES', nodes, nodeColumns(options));
  if (nodes.length > 0) sections.line(totalText(nodes));
  sections.notes(notes);
  return sections.toString();
}

/** Everything about one volume, one field a line. */
export function renderVolumeDetails(lines: readonly DriveVolumeLine[], { width }: Terminal): string {
  const blocks = lines.map((line) =>
    fieldLines(
      [
        ['Volume', line.volume],
        ['Drive', line.drive],
        ['Drive state', stateText({ state: line.driveState, isCordoned: line.isDriveCordoned })],
        ['Node', line.node],
        ['Device', line.device],
        ['Size', `${byteText(line.sizeBytes)} (${line.sizeBytes} bytes)`],
        ['State', line.state],
        ['Claim', line.claim],
        ['PersistentVolume', line.persistentVolume],
        ['Pods', line.pods.join(', ')],
      ],
      width,
    ),
  );
  return blocks.map((lines) => `${lines.join('\n')}\n`).join('\n');
}

function driveColumns(options: RenderDrivesOptions): (Column<DriveLine> | undefined)[] {
  const { terminal, env, isWide, nowMs } = options;
  const style = styleOf(terminal);
  const bar = driveBarFor(terminal, env, style);
  return [
    { title: 'NODE', cell: ({ node }) => node },
    { title: 'DRIVE', cell: ({ drive }) => drive },
    { title: 'TIER', cell: ({ tier }) => tier, isMinor: true },
    { title: 'SIZE', cell: ({ capacityBytes }) => byteText(capacityBytes), align: 'right' },
    { title: 'USED', cell: ({ usedBytes }) => byteText(usedBytes), align: 'right' },
    {
      title: 'PROMISED',
      cell: ({ promisedBytes }) => byteText(promisedBytes),
      align: 'right',
      isMinor: true,
    },
    { title: 'FREE', cell: ({ freeBytes }) => byteText(freeBytes), align: 'right' },
    bar && { title: 'USED/PROMISED/FREE', cell: bar, isMinor: true },
    { title: 'VOLUMES', cell: ({ volumeCount }) => String(volumeCount), align: 'right' },
    isWide ? { title: 'DEVICE', cell: ({ device = '-' }) => device } : undefined,
    isWide ? { title: 'MAKE', cell: ({ make = '-' }) => make } : undefined,
    isWide ? { title: 'FILESYSTEM', cell: ({ filesystemUUID }) => filesystemUUID } : undefined,
    isWide ? { title: 'LABELS', cell: ({ labels }) => labelsText(labels) } : undefined,
    isWide ? { title: 'AGE', cell: ({ createdAt }) => ageText(createdAt, nowMs), align: 'right' } : undefined,
    isWide ? { title: 'FINDINGS', cell: findingsCell } : undefined,
    { title: 'STATE', cell: (line) => stateCell(line, style) },
  ];
}

/** The messages are in the conditions of the Drive, and in JSON. */
function findingsCell({ findings = [] }: DriveLine): string {
  return findings.map(({ reason }) => reason).join(',') || '-';
}

const badStates: ReadonlySet<string> = new Set(['Lost', 'Error', 'NodeGone']);

function stateCell(line: Pick<DriveLine, 'state' | 'isCordoned'>, style: Style): string {
  const text = stateText(line);
  if (line.state === 'Ready') return line.isCordoned ? style.warn(text) : style.good(text);
  return badStates.has(line.state) ? style.bad(text) : style.warn(text);
}

function labelsText(labels: Readonly<Record<string, string>>): string {
  return (
    Object.entries(labels)
      .map(([key, value]) => `${key}=${value}`)
      .join(',') || '-'
  );
}

function volumeColumns({ terminal, isWide }: RenderDrivesOptions): (Column<DriveVolumeLine> | undefined)[] {
  const style = styleOf(terminal);
  return [
    { title: 'VOLUME', cell: ({ volume }) => volume },
    { title: 'SIZE', cell: ({ sizeBytes }) => byteText(sizeBytes), align: 'right' },
    { title: 'NODE', cell: ({ node }) => node },
    { title: 'DRIVE', cell: ({ drive }) => drive },
    {
      title: 'DRIVE STATE',
      cell: ({ driveState, isDriveCordoned }) =>
        stateCell({ state: driveState, isCordoned: isDriveCordoned }, style),
    },
    isWide ? { title: 'DEVICE', cell: ({ device = '-' }) => device } : undefined,
    { title: 'CLAIM', cell: ({ claim = '-' }) => claim },
    { title: 'PODS', cell: ({ pods }) => pods.join(', ') || '-', isMinor: true },
    {
      title: 'STATE',
      cell: ({ state }) => (state === 'Lost' || state === 'Leaked' ? style.bad(state) : state),
    },
  ];
}

function nodeColumns({ terminal, env }: RenderDrivesOptions): (Column<DriveNodeLine> | undefined)[] {
  const bar = driveBarFor(terminal, env, styleOf(terminal));
  return [
    { title: 'NODE', cell: ({ node }) => node },
    { title: 'DRIVES', cell: ({ driveCount }) => String(driveCount), align: 'right' },
    { title: 'READY', cell: ({ readyCount }) => String(readyCount), align: 'right' },
    { title: 'SIZE', cell: ({ capacityBytes }) => byteText(capacityBytes), align: 'right' },
    { title: 'USED', cell: ({ usedBytes }) => byteText(usedBytes), align: 'right' },
    { title: 'PROMISED', cell: ({ promisedBytes }) => byteText(promisedBytes), align: 'right' },
    { title: 'FREE', cell: ({ freeBytes }) => byteText(freeBytes), align: 'right' },
    bar && { title: 'USED/PROMISED/FREE', cell: bar, isMinor: true },
    { title: 'VOLUMES', cell: ({ volumeCount }) => String(volumeCount), align: 'right' },
    { title: 'STATE', cell: ({ states }) => statesText(states) },
  ];
}

/** Such as `1 Lost, 2 Ready`. */
function statesText(states: Readonly<Record<string, number>>): string {
  const texts = Object.entries(states).map(([state, drives]) => `${drives} ${state}`);
  return texts.join(', ');
}

function totalText(nodes: readonly DriveNodeLine[]): string {
  const sum = (count: (line: DriveNodeLine) => number) => nodes.reduce((all, line) => all + count(line), 0);
  const drives = sum(({ driveCount }) => driveCount);
  const volumes = sum(({ volumeCount }) => volumeCount);
  const capacity = byteText(sum(({ capacityBytes }) => capacityBytes));
  const free = byteText(sum(({ freeBytes }) => freeBytes));
  return `${free} free of ${capacity} on ${count(drives, 'drive')} with ${count(volumes, 'volume')}.`;
}

function count(number: number, noun: string): string {
  return `${number.toLocaleString('en-US')} ${noun}${number === 1 ? '' : 's'}`;
}
