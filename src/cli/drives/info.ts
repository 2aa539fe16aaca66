import { driveLines, driveNodeLines } from '../../queries/drives/drive-lines.ts';
import { readDriveObjects } from '../../queries/drives/drive-objects.ts';
import type { DriveNodesReport, DriveVolumesReport } from '../../queries/drives/drives-report.ts';
import { linesAbout, volumeLines } from '../../queries/drives/volume-lines.ts';
import { printableText } from '../../runtime/printable-text.ts';
import { CliError } from '../errors/cli-error.ts';
import { type OutputFormat, outputFormatOf, structured } from '../output/output-format.ts';
import { type DrivesFlags, withDrives } from '../source/with-own-kinds.ts';
import { drivesReportOf, renderOptions } from './list.ts';
import { renderDriveNodes, renderVolumeDetails } from './render-drives.ts';

export interface InfoFlags extends DrivesFlags {
  readonly output: string;
}

/** `stowage drives info`: shows where a volume is, or the drives and volumes of each node. */
export async function driveInfo(volume: string | undefined, flags: InfoFlags): Promise<void> {
  const format = outputFormatOf(flags.output);
  const withUsers = volume !== undefined;
  const objects = await withDrives(flags, (cluster) => readDriveObjects(cluster, { withUsers }));
  const { notes } = objects;
  if (volume === undefined) {
    const nodes = driveNodeLines(driveLines(objects));
    process.stdout.write(nodesText({ ...drivesReportOf('DriveNodesReport'), nodes, notes }, format));
    return;
  }
  const volumes = linesAbout(volume, volumeLines(objects));
  if (volumes.length === 0)
    throw new CliError(
      `no drive has a volume ${volume}; stowage drives list volumes shows all, and a claim is named as NAMESPACE/NAME`,
    );
  process.stdout.write(detailsText({ ...drivesReportOf('DriveVolumesReport'), volumes, notes }, format));
}

function nodesText(report: DriveNodesReport, format: OutputFormat): string {
  if (format === 'json' || format === 'yaml') return structured(report, format);
  if (format === 'name') return report.nodes.map(({ node }) => `node/${printableText(node)}\n`).join('');
  return renderDriveNodes(report, renderOptions(format));
}

function detailsText(report: DriveVolumesReport, format: OutputFormat): string {
  if (format === 'json' || format === 'yaml') return structured(report, format);
  if (format === 'name') return report.volumes.map(({ volume }) => `${printableText(volume)}\n`).join('');
  return renderVolumeDetails(report.volumes, renderOptions(format).terminal);
}
