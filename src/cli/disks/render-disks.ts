import type {
  BackingImagesReport,
  DiskLine,
  DisksReport,
  DiskVolumeLine,
  DiskVolumesReport,
  ImageLine,
} from '../../queries/disks/disks-report.ts';
import { byteText } from '../output/byte-text.ts';
import { driveBarFor } from '../output/drive-bar.ts';
import { Sections, type SectionsOptions } from '../output/sections.ts';
import { type Style, styleOf } from '../output/style.ts';
import type { Column } from '../output/table.ts';

export interface RenderDisksOptions extends SectionsOptions {
  readonly env: NodeJS.ProcessEnv;
}

export function renderDisks({ disks, notes }: DisksReport, options: RenderDisksOptions): string {
  const sections = new Sections(options);
  if (disks.length === 0) sections.line('There are no disks. A StorageNode with spec.disks has some.');
  sections.table('DISKS', disks, diskColumns(disks, options));
  if (disks.length > 0) sections.line(sumText(disks));
  sections.notes(notes);
  return sections.toString();
}

export function renderDiskVolumes(
  { volumes, notes }: DiskVolumesReport,
  options: RenderDisksOptions,
): string {
  const sections = new Sections(options);
  if (volumes.length === 0) sections.line('There are no volumes on disks.');
  sections.table('VOLUMES', volumes, volumeColumns(volumes, options));
  sections.notes(notes);
  return sections.toString();
}

export function renderImages({ images, notes }: BackingImagesReport, options: RenderDisksOptions): string {
  const sections = new Sections(options);
  if (images.length === 0) sections.line('There are no images. stowage disks image create makes one.');
  sections.table('IMAGES', images, imageColumns(images, options));
  sections.notes(notes);
  return sections.toString();
}

/** The columns of a table of disks; `node` is left out for the disks of one node. */
export function diskColumns(
  disks: readonly DiskLine[],
  { terminal, env, isWide }: RenderDisksOptions,
): (Column<DiskLine> | undefined)[] {
  const style = styleOf(terminal);
  const bar = driveBarFor(terminal, env, style);
  const barOf = ({ limitBytes, scheduledBytes, pendingBytes }: DiskLine) =>
    bar?.({ capacityBytes: limitBytes, usedBytes: scheduledBytes, promisedBytes: pendingBytes }) ?? '';
  return [
    { title: 'NODE', cell: ({ node }) => node },
    { title: 'DISK', cell: ({ disk }) => disk },
    { title: 'UUID', cell: ({ uuid }) => uuidText(uuid, isWide), isMinor: true },
    { title: 'LIMIT', cell: ({ limitBytes }) => byteText(limitBytes), align: 'right' },
    { title: 'SCHEDULED', cell: ({ scheduledBytes }) => byteText(scheduledBytes), align: 'right' },
    { title: 'PENDING', cell: ({ pendingBytes }) => byteText(pendingBytes), align: 'right', isMinor: true },
    { title: 'FREE', cell: ({ freeBytes }) => byteText(freeBytes), align: 'right' },
    bar && { title: 'SCHEDULED/PENDING/FREE', cell: barOf, isMinor: true },
    { title: 'REPLICAS', cell: ({ replicaCount }) => String(replicaCount), align: 'right' },
    { title: 'IMAGES', cell: ({ imageCount }) => String(imageCount), align: 'right', isMinor: true },
    { title: 'REJECTED', cell: ({ rejectedCount }) => String(rejectedCount), align: 'right' },
    { title: 'TAGS', cell: ({ tags }) => tags.join(',') || '-', isMinor: true },
    isWide ? { title: 'ZONE', cell: ({ zone = '-' }) => zone } : undefined,
    isWide ? { title: 'PATH', cell: ({ path = '-' }) => path } : undefined,
    { title: 'STATE', cell: ({ state }) => paintOf(state, style)(state) },
    reasonColumn(disks),
  ];
}

/** Only where there is something to say. */
function reasonColumn<Row extends { readonly message?: string | undefined }>(
  rows: readonly Row[],
): Column<Row> | undefined {
  if (rows.every(({ message }) => message === undefined)) return undefined;
  return { title: 'REASON', cell: ({ message = '-' }) => message };
}

function paintOf(state: string, style: Style): (text: string) => string {
  if (/^(Ready|Allocated)$/.test(state)) return style.good;
  return /^(NotReady|OverCommitted|InsufficientStorage|ExpansionRejected|Failed)$/.test(state)
    ? style.bad
    : style.warn;
}

/** The first eight digits identify a disk among those of a cluster. */
function uuidText(uuid: string | undefined, isWide: boolean): string {
  return uuid === undefined ? '-' : isWide ? uuid : uuid.slice(0, 8);
}

function sumText(disks: readonly DiskLine[]): string {
  const sum = (of: (line: DiskLine) => number) => disks.reduce((all, line) => all + of(line), 0);
  const bytes = (of: (line: DiskLine) => number) => byteText(sum(of));
  const unknown = disks.filter(({ limitBytes }) => limitBytes === undefined).length;
  return [
    `${count(disks.length, 'disk')}: limit ${bytes(({ limitBytes = 0 }) => limitBytes)}`,
    `scheduled ${bytes(({ scheduledBytes }) => scheduledBytes)}`,
    `pending ${bytes(({ pendingBytes }) => pendingBytes)}`,
    `free ${bytes(({ freeBytes = 0 }) => Math.max(0, freeBytes))}`,
    count(
      sum(({ replicaCount }) => replicaCount),
      'replica',
    ),
    count(
      sum(({ imageCount }) => imageCount),
      'image',
    ),
    `${sum(({ rejectedCount }) => rejectedCount)} rejected`,
    ...(unknown > 0 ? [`the limit of ${count(unknown, 'disk')} is unknown`] : []),
  ].join(', ');
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function volumeColumns(
  volumes: readonly DiskVolumeLine[],
  { terminal, isWide }: RenderDisksOptions,
): (Column<DiskVolumeLine> | undefined)[] {
  const style = styleOf(terminal);
  const hasClaims = volumes.some(({ claim }) => claim !== undefined);
  return [
    { title: 'VOLUME', cell: ({ volume }) => volume },
    hasClaims || isWide ? { title: 'CLAIM', cell: ({ claim = '-' }) => claim } : undefined,
    { title: 'SIZE', cell: ({ sizeBytes }) => byteText(sizeBytes), align: 'right' },
    isWide
      ? { title: 'CURRENT', cell: ({ currentBytes }) => byteText(currentBytes), align: 'right' }
      : undefined,
    { title: 'WANTED', cell: ({ replicasWanted }) => String(replicasWanted), align: 'right' },
    { title: 'PLACED', cell: ({ replicasPlaced }) => String(replicasPlaced), align: 'right' },
    { title: 'HEALTHY', cell: ({ replicasHealthy }) => String(replicasHealthy), align: 'right' },
    { title: 'ROBUSTNESS', cell: ({ robustness }) => paintOf(robustness, style)(robustness) },
    { title: 'STATE', cell: ({ state }) => paintOf(state, style)(state) },
    reasonColumn(volumes),
  ];
}

function imageColumns(
  images: readonly ImageLine[],
  { terminal }: RenderDisksOptions,
): (Column<ImageLine> | undefined)[] {
  const style = styleOf(terminal);
  return [
    { title: 'IMAGE', cell: ({ image }) => image },
    {
      title: 'SIZE',
      cell: ({ sizeBytes, expectedBytes }) => sizeText(sizeBytes, expectedBytes),
      align: 'right',
    },
    { title: 'COPIES', cell: ({ copiesWanted }) => String(copiesWanted), align: 'right' },
    { title: 'READY', cell: ({ copiesReady }) => String(copiesReady), align: 'right' },
    {
      title: 'PROGRESS',
      cell: ({ progressPercent }) => (progressPercent === undefined ? '-' : `${progressPercent} %`),
      align: 'right',
    },
    { title: 'SOURCE', cell: ({ source }) => source, isMinor: true },
    { title: 'STATE', cell: ({ state }) => paintOf(state, style)(state) },
    reasonColumn(images),
  ];
}

/** An expected size is marked as such: nothing has that size yet. */
function sizeText(sizeBytes: number | undefined, expectedBytes: number | undefined): string {
  if (sizeBytes !== undefined) return byteText(sizeBytes);
  return expectedBytes === undefined ? 'unknown' : `~${byteText(expectedBytes)}`;
}
