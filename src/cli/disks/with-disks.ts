import type { Cluster } from '../../cluster/cluster.ts';
import { type OutputFormat, structured } from '../output/output-format.ts';
import { terminalOf } from '../output/terminal.ts';
import { type DrivesFlags, withOwnKinds } from '../source/with-own-kinds.ts';
import type { RenderDisksOptions } from './render-disks.ts';

/** The flags of every command of `stowage disks`. */
export type DisksFlags = DrivesFlags;

/** Runs `use` with a connection. Errors of the server become messages that name it and the remedy. */
export async function withDisks<T>(flags: DisksFlags, use: (cluster: Cluster) => Promise<T>): Promise<T> {
  return await withOwnKinds(flags, 'the kinds StorageNode and DiskSchedule', use);
}

/** The output of a command in the format that was asked for. */
export function disksOutput<Report extends object>(
  report: Report,
  format: OutputFormat,
  ways: {
    readonly render: (report: Report, options: RenderDisksOptions) => string;
    readonly names: (report: Report) => readonly string[];
  },
): string {
  switch (format) {
    case 'json':
    case 'yaml':
      return structured(report, format);
    case 'name':
      return ways
        .names(report)
        .map((name) => `${name}\n`)
        .join('');
    case 'table':
    case 'wide':
      return ways.render(report, renderDisksOptions(format));
  }
}

function renderDisksOptions(format: OutputFormat): RenderDisksOptions {
  return { terminal: terminalOf(process.stdout, process.env), env: process.env, isWide: format === 'wide' };
}
