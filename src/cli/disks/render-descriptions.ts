import type {
  BackingImageDescription,
  DiskCapacity,
  DiskDescription,
  DiskEntryLine,
  DiskVolumeDescription,
  EvictionLine,
  ImageCopyLine,
  ReplicaLine,
  StorageNodeDescription,
} from '../../queries/disks/disks-report.ts';
import { byteText } from '../output/byte-text.ts';
import { driveBarFor } from '../output/drive-bar.ts';
import { Sections } from '../output/sections.ts';
import { type Style, styleOf } from '../output/style.ts';
import type { Column } from '../output/table.ts';
import { diskColumns, type RenderDisksOptions } from './render-disks.ts';

export type DisksDescription =
  | DiskDescription
  | StorageNodeDescription
  | DiskVolumeDescription
  | BackingImageDescription;

export function renderDescription(description: DisksDescription, options: RenderDisksOptions): string {
  const sections = new Sections(options);
  switch (description.kind) {
    case 'DiskDescription':
      addDisk(sections, description, options);
      break;
    case 'StorageNodeDescription':
      addNode(sections, description, options);
      break;
    case 'DiskVolumeDescription':
      addVolume(sections, description, styleOf(options.terminal));
      break;
    case 'BackingImageDescription':
      addImage(sections, description, styleOf(options.terminal));
      break;
  }
  sections.notes(description.notes);
  return sections.toString();
}

/** The replicas and copies that remain on disks that are evicted. */
export function evictionColumns(style: Style): readonly Column<EvictionLine>[] {
  return [
    { title: 'KIND', cell: ({ kind }) => kind },
    { title: 'NAME', cell: ({ name }) => name },
    { title: 'VOLUME', cell: ({ volume = '-' }) => volume, isMinor: true },
    { title: 'ON', cell: ({ node, disk }) => `${node}/${disk}` },
    { title: 'SIZE', cell: ({ sizeBytes }) => byteText(sizeBytes), align: 'right' },
    { title: 'STATE', cell: ({ state }) => (state === 'Blocked' ? style.bad : style.warn)(state) },
    { title: 'WHY', cell: ({ message }) => message },
  ];
}

function addDisk(sections: Sections, disk: DiskDescription, options: RenderDisksOptions): void {
  const { terminal, env } = options;
  const style = styleOf(terminal);
  const { limitBytes, scheduledBytes, pendingBytes, freeBytes, capacity } = disk;
  const bar = driveBarFor(
    terminal,
    env,
    style,
  )?.({
    capacityBytes: limitBytes,
    usedBytes: scheduledBytes,
    promisedBytes: pendingBytes,
  });
  sections.fields([
    ['Disk', disk.disk],
    ['Node', disk.node],
    ['UUID', disk.uuid],
    ['Zone', disk.zone],
    ['Path', disk.path],
    ['Tags', disk.tags.join(', ')],
    ['Tags of its node', disk.nodeTags.join(', ')],
    ['State', stateText(disk, style)],
    ['Limit', limitText(limitBytes, capacity)],
    ['Policy', policyText(capacity)],
    ['Scheduled', exactBytes(scheduledBytes)],
    ['Pending', `${exactBytes(pendingBytes)}, ${disk.pendingCount} without a verdict`],
    ['Free', freeText(freeBytes)],
    ['Rejected', String(disk.rejectedCount)],
    ...(bar === undefined ? [] : [['Use', bar] as const]),
  ]);
  sections.table('ENTRIES', disk.entries, entryColumns(disk.entries, style));
}

function freeText(freeBytes: number | undefined): string {
  if (freeBytes === undefined || freeBytes >= 0) return exactBytes(freeBytes);
  return `none: ${exactBytes(-freeBytes)} more are scheduled than the limit`;
}

/** The sum from which the limit comes. */
function limitText(limitBytes: number | undefined, capacity: DiskCapacity): string {
  const { storageMaximumBytes, storageAvailableBytes, storageReservedBytes: reserved } = capacity;
  const percentage = capacity.overProvisioningPercentage;
  const formula =
    percentage === undefined
      ? `storageAvailable ${byteText(storageAvailableBytes)} - storageReserved ${byteText(reserved)}`
      : `(storageMaximum ${byteText(storageMaximumBytes)} - storageReserved ${byteText(reserved)}) * ${percentage} %`;
  return `${exactBytes(limitBytes)}: ${formula}`;
}

const policyOrigins = {
  disk: 'of this disk',
  settings: 'of DiskSettings default',
  default: 'the default',
} as const;

function policyText({ policy, policyFrom }: DiskCapacity): string {
  return `${policy}, ${policyOrigins[policyFrom]}`;
}

function entryColumns(
  entries: readonly DiskEntryLine[],
  style: Style,
): (Column<DiskEntryLine> | undefined)[] {
  const hasClaims = entries.some(({ claim }) => claim !== undefined);
  return [
    { title: 'KIND', cell: ({ kind }) => kind },
    { title: 'NAME', cell: ({ name }) => name },
    { title: 'VOLUME', cell: ({ volume = '-' }) => volume },
    hasClaims ? { title: 'CLAIM', cell: ({ claim = '-' }) => claim, isMinor: true } : undefined,
    { title: 'REQUESTED', cell: ({ requestedBytes }) => byteText(requestedBytes), align: 'right' },
    { title: 'SCHEDULED', cell: ({ scheduledBytes }) => byteText(scheduledBytes), align: 'right' },
    {
      title: 'MISSING',
      cell: ({ missingBytes }) => (missingBytes === undefined ? '-' : byteText(missingBytes)),
      align: 'right',
    },
    { title: 'STATE', cell: ({ state }) => entryPaint(state, style)(state) },
    { title: 'REASON', cell: ({ reason = '-' }) => reason },
  ];
}

function entryPaint(state: DiskEntryLine['state'], style: Style): (text: string) => string {
  return state === 'scheduled' ? style.good : state === 'rejected' ? style.bad : style.warn;
}

function addNode(sections: Sections, node: StorageNodeDescription, options: RenderDisksOptions): void {
  const style = styleOf(options.terminal);
  sections.fields([
    ['Node', node.node],
    ['Zone', node.zone],
    ['Region', node.region],
    ['Tags', node.tags.join(', ')],
    ['State', stateText(node, style)],
    ['Takes new replicas', node.allowScheduling && !node.evictionRequested ? 'yes' : 'no'],
    ['Eviction requested', node.evictionRequested ? 'yes' : 'no'],
    ['Uploads', node.uploadURL],
  ]);
  sections.table('DISKS', node.disks, diskColumns(node.disks, options));
  sections.table('TO BE EVICTED', node.evictions, evictionColumns(style));
}

function addVolume(sections: Sections, volume: DiskVolumeDescription, style: Style): void {
  const { antiAffinity, refusedExpansion } = volume;
  sections.fields([
    ['Volume', volume.volume],
    ['Claim', volume.claim],
    ['Size', exactBytes(volume.sizeBytes)],
    ['Current size', exactBytes(volume.currentBytes)],
    [
      'Replicas',
      `${volume.replicasWanted} wanted, ${volume.replicasPlaced} placed, ${volume.replicasHealthy} healthy`,
    ],
    ['Robustness', volume.robustness],
    ['Node selector', volume.nodeSelector.join(', ')],
    ['Disk selector', volume.diskSelector.join(', ')],
    ['Anti-affinity', `node ${antiAffinity.node}, zone ${antiAffinity.zone}, disk ${antiAffinity.disk}`],
    ['Image', imageText(volume)],
    ['State', stateText(volume, style)],
    ...(refusedExpansion === undefined
      ? []
      : [['Refused expansion', `${refusedExpansion.message} (${refusedExpansion.time})`] as const]),
  ]);
  sections.table('REPLICAS', volume.replicas, replicaColumns(volume.replicas));
}

function imageText({ backingImage, backingImageMessage }: DiskVolumeDescription): string | undefined {
  return backingImageMessage === undefined ? backingImage : `${backingImage}: ${backingImageMessage}`;
}

function replicaColumns(replicas: readonly ReplicaLine[]): (Column<ReplicaLine> | undefined)[] {
  const isShort = replicas.some(({ missingBytes }) => missingBytes !== undefined);
  return [
    { title: 'REPLICA', cell: ({ replica }) => replica },
    { title: 'NODE', cell: ({ node = '-' }) => node },
    { title: 'DISK', cell: ({ disk, diskUUID = '-' }) => disk ?? diskUUID },
    { title: 'ZONE', cell: ({ zone = '-' }) => zone, isMinor: true },
    { title: 'SIZE', cell: ({ sizeBytes }) => byteText(sizeBytes), align: 'right' },
    { title: 'SCHEDULED', cell: ({ scheduledBytes }) => byteText(scheduledBytes), align: 'right' },
    {
      title: 'FILE',
      cell: ({ fileBytes }) => (fileBytes === undefined ? '-' : byteText(fileBytes)),
      align: 'right',
    },
    isShort
      ? {
          title: 'MISSING',
          cell: ({ missingBytes }) => (missingBytes === undefined ? '-' : byteText(missingBytes)),
          align: 'right',
        }
      : undefined,
    { title: 'STATE', cell: ({ state }) => state },
    replicas.some(({ message }) => message !== undefined)
      ? { title: 'REASON', cell: ({ message = '-' }) => message }
      : undefined,
  ];
}

function addImage(sections: Sections, image: BackingImageDescription, style: Style): void {
  sections.fields([
    ['Image', image.image],
    ['Source', image.source],
    ['Checksum', image.checksum],
    ['Size', exactBytes(image.sizeBytes)],
    ['Expected size', exactBytes(image.expectedBytes)],
    ['Copies', `${image.copiesWanted} wanted, ${image.copiesReady} ready`],
    ['Node selector', image.nodeSelector.join(', ')],
    ['Disk selector', image.diskSelector.join(', ')],
    ['Volumes', image.volumes === undefined ? 'unknown' : image.volumes.join(', ')],
    ['State', stateText(image, style)],
  ]);
  sections.table('COPIES', image.copies, copyColumns());
}

function copyColumns(): readonly Column<ImageCopyLine>[] {
  return [
    { title: 'NODE', cell: ({ node = '-' }) => node },
    { title: 'DISK', cell: ({ disk, diskUUID }) => disk ?? diskUUID },
    { title: 'SCHEDULED', cell: ({ scheduledBytes }) => byteText(scheduledBytes), align: 'right' },
    {
      title: 'PROGRESS',
      cell: ({ progressPercent }) => (progressPercent === undefined ? '-' : `${progressPercent} %`),
      align: 'right',
    },
    { title: 'EVICTING', cell: ({ evictionRequested }) => (evictionRequested ? 'yes' : 'no'), isMinor: true },
    { title: 'STATE', cell: ({ state }) => state },
    { title: 'REASON', cell: ({ message = '-' }) => message },
  ];
}

function stateText(
  { state, message }: { readonly state: string; readonly message?: string | undefined },
  style: Style,
): string {
  const paint = /^(Ready|Allocated)$/.test(state) ? style.good : style.warn;
  return message === undefined ? paint(state) : `${paint(state)}: ${message}`;
}

function exactBytes(bytes: number | undefined): string {
  if (bytes === undefined) return 'unknown';
  return bytes < 1024 ? `${bytes} bytes` : `${byteText(bytes)} (${bytes} bytes)`;
}
