import type { DriftReport } from '../../queries/capacity/drift-report.ts';
import { measureCapacity } from '../../queries/capacity/measure-capacity.ts';
import { measureDrift } from '../../queries/capacity/measure-drift.ts';
import type { CapacityReport } from '../../queries/capacity/report.ts';
import type { ClusterView } from '../../queries/view/cluster-view.ts';
import { cannotRead } from '../../queries/view/missing-notes.ts';
import { realClock } from '../../runtime/clock.ts';
import { CliError } from '../errors/cli-error.ts';
import { type OutputFormat, outputFormatOf, structured } from '../output/output-format.ts';
import type { Terminal } from '../output/terminal.ts';
import type { SourceFlags } from '../source/load-cluster-view.ts';
import { answerOrWatch, type WatchFlags } from '../watch/answer-or-watch.ts';
import { poolNames, renderCapacity } from './render.ts';
import { driftNames, renderDrift } from './render-drift.ts';

export interface CapacityFlags extends SourceFlags, WatchFlags {
  readonly class?: string;
  readonly drift?: boolean;
  readonly output: string;
}

/** `stowage capacity`: shows the storage capacity, and how much of it is promised; with `--drift`, what differs from the known volumes. */
export async function capacityCommand(flags: CapacityFlags): Promise<void> {
  const format = outputFormatOf(flags.output);
  await answerOrWatch(flags, {}, ({ view }, terminal) => ({
    text: capacityText(view, flags, { format, terminal }),
    exitCode: 0,
  }));
}

function capacityText(
  view: ClusterView,
  flags: CapacityFlags,
  { format, terminal }: { readonly format: OutputFormat; readonly terminal: Terminal },
): string {
  if (cannotRead(view, ['CSIStorageCapacity', 'PersistentVolume']))
    throw new CliError(
      'could see neither csistoragecapacities nor persistentvolumes: forbidden; ask for the right to list them',
    );
  const options = { nowMs: realClock.nowMs(), storageClass: flags.class };
  const report = flags.drift ? measureDrift(view, options) : measureCapacity(view, options);
  if (flags.class !== undefined && view.snapshot.get('StorageClass', flags.class) === undefined)
    requireAny(report, flags.class);
  return rendered(report, { format, terminal, nowMs: options.nowMs });
}

/** Volumes and pools may have a class that doesn't exist; a class that nothing has is an error. */
function requireAny(report: CapacityReport | DriftReport, storageClass: string): void {
  if (report.pools.length > 0 || (report.kind === 'CapacityReport' && report.volumes.length > 0)) return;
  throw new CliError(
    `there is no class ${storageClass}, nor anything of it; kubectl get storageclasses lists those there are`,
  );
}

interface Rendering {
  readonly format: OutputFormat;
  readonly terminal: Terminal;
  readonly nowMs: number;
}

function rendered(report: CapacityReport | DriftReport, { format, terminal, nowMs }: Rendering): string {
  switch (format) {
    case 'json':
    case 'yaml':
      return structured(report, format);
    case 'name':
      return report.kind === 'DriftReport' ? driftNames(report) : poolNames(report);
    case 'table':
    case 'wide': {
      const { env } = process;
      const options = { terminal, isWide: format === 'wide', env, nowMs };
      return report.kind === 'DriftReport' ? renderDrift(report, options) : renderCapacity(report, options);
    }
  }
}
