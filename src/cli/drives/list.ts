import { driveLines } from '../../queries/drives/drive-lines.ts';
import { readDriveObjects } from '../../queries/drives/drive-objects.ts';
import type { DrivesReport, DriveVolumesReport } from '../../queries/drives/drives-report.ts';
import { volumeLines } from '../../queries/drives/volume-lines.ts';
import { realClock } from '../../runtime/clock.ts';
import { printableText } from '../../runtime/printable-text.ts';
import { usage } from '../errors/cli-error.ts';
import { type OutputFormat, outputFormatOf, structured } from '../output/output-format.ts';
import { terminalOf } from '../output/terminal.ts';
import { type DrivesFlags, withDrives } from '../source/with-own-kinds.ts';
import { drivePrefix } from './named-drives.ts';
import { type RenderDrivesOptions, renderDrives, renderDriveVolumes } from './render-drives.ts';

export interface ListFlags extends DrivesFlags {
  readonly output: string;
  readonly node?: string;
}

/** `stowage drives list`. */
export async function listDrives(what: string, flags: ListFlags): Promise<void> {
  const format = outputFormatOf(flags.output);
  if (what !== 'drives' && what !== 'volumes')
    throw usage(`"${what}" cannot be listed; it must be drives or volumes`);
  const withUsers = what === 'volumes';
  const objects = await withDrives(flags, (cluster) => readDriveObjects(cluster, { withUsers }));
  const isAsked = ({ node }: { readonly node: string }) => flags.node === undefined || node === flags.node;
  const { notes } = objects;
  const text =
    what === 'drives'
      ? drivesText(
          { ...drivesReportOf('DrivesReport'), drives: driveLines(objects).filter(isAsked), notes },
          format,
        )
      : volumesText(
          { ...drivesReportOf('DriveVolumesReport'), volumes: volumeLines(objects).filter(isAsked), notes },
          format,
        );
  process.stdout.write(text);
}

export function drivesReportOf<Kind extends string>(kind: Kind) {
  return { apiVersion: 'stowage.dev/drives/v1', kind } as const;
}

export function renderOptions(format: OutputFormat): RenderDrivesOptions {
  const terminal = terminalOf(process.stdout, process.env);
  return { terminal, env: process.env, isWide: format === 'wide', nowMs: realClock.nowMs() };
}

function drivesText(report: DrivesReport, format: OutputFormat): string {
  switch (format) {
    case 'json':
    case 'yaml':
      return structured(report, format);
    case 'name':
      return report.drives.map(({ drive }) => `${drivePrefix}${printableText(drive)}\n`).join('');
    case 'table':
    case 'wide':
      return renderDrives(report, renderOptions(format));
  }
}

function volumesText(report: DriveVolumesReport, format: OutputFormat): string {
  switch (format) {
    case 'json':
    case 'yaml':
      return structured(report, format);
    case 'name':
      return report.volumes.map(({ volume }) => `${printableText(volume)}\n`).join('');
    case 'table':
    case 'wide':
      return renderDriveVolumes(report, renderOptions(format));
  }
}
