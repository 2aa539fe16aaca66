import { realClock } from '../../runtime/clock.ts';
import { CliError } from '../cli-error.ts';
import { type OutputFormat, outputFormatOf, structured } from '../output/output-format.ts';
import { terminalOf } from '../output/terminal.ts';
import { loadClusterView, type SourceFlags } from '../source/load-cluster-view.ts';
import { isBlind } from '../source/missing-notes.ts';
import { measureCapacity } from './measure-capacity.ts';
import { poolNames, renderCapacity } from './render-capacity.ts';
import type { CapacityReport } from './report.ts';

export interface CapacityFlags extends SourceFlags {
  readonly class?: string;
  readonly output: string;
}

/** `stowage capacity`: shows the storage capacity, and how much of it is promised. */
export async function capacity(flags: CapacityFlags): Promise<void> {
  const format = outputFormatOf(flags.output);
  const { view } = await loadClusterView(flags);
  if (isBlind(view, ['CSIStorageCapacity', 'PersistentVolume']))
    throw new CliError(
      'could see neither csistoragecapacities nor persistentvolumes: forbidden; ask for the right to list them',
    );
  const nowMs = realClock.nowMs();
  const report = measureCapacity(view, { nowMs, storageClass: flags.class });
  if (flags.class !== undefined && view.snapshot.get('StorageClass', flags.class) === undefined)
    requireAny(report, flags.class);
  process.stdout.write(rendered(report, format, nowMs));
}

/** Volumes and pools may have a class that doesn't exist; a class that nothing has is an error. */
function requireAny({ pools, volumes }: CapacityReport, storageClass: string): void {
  if (pools.length + volumes.length > 0) return;
  throw new CliError(
    `there is no class ${storageClass}, nor anything of it; kubectl get storageclasses lists those there are`,
  );
}

function rendered(report: CapacityReport, format: OutputFormat, nowMs: number): string {
  switch (format) {
    case 'json':
    case 'yaml':
      return structured(report, format);
    case 'name':
      return poolNames(report);
    case 'table':
    case 'wide': {
      const { env } = process;
      return renderCapacity(report, {
        terminal: terminalOf(process.stdout, env),
        isWide: format === 'wide',
        env,
        nowMs,
      });
    }
  }
}
