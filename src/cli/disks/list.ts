import { diskLine } from '../../queries/disks/disk-lines.ts';
import { type DiskObjects, readDiskObjects } from '../../queries/disks/disk-objects.ts';
import { VolumesOnDisks } from '../../queries/disks/disk-volume-lines.ts';
import type { DiskLine, DisksReport, DiskVolumesReport } from '../../queries/disks/disks-report.ts';
import { knownDisks } from '../../queries/disks/known-disks.ts';
import { printableText } from '../../runtime/printable-text.ts';
import { CliError, usage } from '../errors/cli-error.ts';
import { outputFormatOf } from '../output/output-format.ts';
import { renderDisks, renderDiskVolumes } from './render-disks.ts';
import { type DisksFlags, disksOutput, withDisks } from './with-disks.ts';

export interface ListDisksFlags extends DisksFlags {
  readonly output: string;
  readonly node?: string;
  readonly selector?: string;
  readonly volumes?: boolean;
}

const apiVersion = 'stowage.dev/disks/v1';

/** `stowage disks list`. */
export async function listDisks(flags: ListDisksFlags): Promise<void> {
  const format = outputFormatOf(flags.output);
  const tags = tagsIn(flags.selector);
  const objects = await withDisks(flags, (cluster) => readDiskObjects(cluster));
  requireNode(flags.node, objects);
  if (flags.volumes === true) {
    if (tags.length > 0) throw usage('--selector: selects disks, so it can not be used with --volumes');
    const report = volumesReport(objects, flags.node);
    const names = () => report.volumes.map(({ volume }) => `volume/${printableText(volume)}`);
    process.stdout.write(disksOutput(report, format, { render: renderDiskVolumes, names }));
    return;
  }
  const report = disksReport(objects, flags.node, tags);
  const names = () => report.disks.map(({ node, disk }) => `disk/${printableText(`${node}/${disk}`)}`);
  process.stdout.write(disksOutput(report, format, { render: renderDisks, names }));
}

/** Parses `--selector`: tags that all must be on the disk or on its node. */
export function tagsIn(selector: string | undefined): readonly string[] {
  if (selector === undefined) return [];
  const tags = selector.split(',').map((tag) => tag.trim());
  if (tags.some((tag) => tag === ''))
    throw usage(`--selector: "${selector}" must be tags, separated by commas`);
  return tags;
}

export function disksReport(
  objects: DiskObjects,
  node: string | undefined,
  tags: readonly string[],
): DisksReport {
  const isAsked = (line: DiskLine) =>
    (node === undefined || line.node === node) &&
    tags.every((tag) => line.tags.includes(tag) || line.nodeTags.includes(tag));
  const disks = knownDisks(objects).map(diskLine).filter(isAsked);
  return { apiVersion, kind: 'DisksReport', disks, notes: objects.notes };
}

/** Limits the volumes to those with a replica on the node, if one is given. */
function volumesReport(objects: DiskObjects, node: string | undefined): DiskVolumesReport {
  const volumes = new VolumesOnDisks(objects);
  const isAsked = ({ volume }: { readonly volume: string }) =>
    node === undefined || volumes.replicasOf(volume).some((replica) => replica.node === node);
  return {
    apiVersion,
    kind: 'DiskVolumesReport',
    volumes: volumes.lines.filter(isAsked),
    notes: objects.notes,
  };
}

function requireNode(node: string | undefined, { nodes }: DiskObjects): void {
  if (node === undefined || nodes.some(({ metadata }) => metadata?.name === node)) return;
  const names = nodes.map(({ metadata }) => metadata?.name);
  const known = names.length === 0 ? 'there are none' : `there are ${names.join(', ')}`;
  throw new CliError(`--node: there is no StorageNode ${node}; ${known}`);
}
