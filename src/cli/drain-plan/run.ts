import type { DrainPlanReport } from '../../queries/drain/drain-report.ts';
import { exitCodeOfDrain, makeDrainPlan } from '../../queries/drain/make-drain-plan.ts';
import { realClock } from '../../runtime/clock.ts';
import { drainTargetArgument } from '../flags/change-flags.ts';
import { logForReading } from '../flags/log-flags.ts';
import { profileFlag } from '../flags/profile-flag.ts';
import { type OutputFormat, outputFormatOf, structured } from '../output/output-format.ts';
import { progressOf } from '../output/progress-of.ts';
import { type Terminal, terminalOf } from '../output/terminal.ts';
import { loadFromSource, type SourceFlags } from '../source/load-cluster-view.ts';
import { disksOfView, readDrainDisks } from '../source/load-disks.ts';
import { requireNodes } from '../source/require-nodes.ts';
import { leftNames, renderDrainPlan } from './render.ts';

export interface DrainPlanFlags extends SourceFlags {
  readonly profile?: string;
  readonly output: string;
}

/** `stowage drain-plan`: prints how a node or a drive can be emptied, and sets the exit status. */
export async function drainPlanCommand(argument: string, flags: DrainPlanFlags): Promise<void> {
  const target = drainTargetArgument(argument);
  const format = outputFormatOf(flags.output);
  const profile = profileFlag(flags.profile);
  const log = logForReading(flags);
  const progress = progressOf(log);
  const loaded = await loadFromSource(flags, { needsPolicies: true }, { log, progress });
  requireNodes(loaded);
  const disks = loaded.isFromFiles ? disksOfView(loaded.view) : await readDrainDisks(flags, log);
  progress.tell('predicting');
  const report = makeDrainPlan(target, {
    view: loaded.view,
    disks,
    clock: realClock,
    profile,
  });
  progress.end();
  process.stdout.write(renderedDrainPlan(report, format, terminalOf(process.stdout, process.env)));
  process.exitCode = exitCodeOfDrain(report);
}

export function renderedDrainPlan(report: DrainPlanReport, format: OutputFormat, terminal: Terminal): string {
  if (format === 'json' || format === 'yaml') return structured(report, format);
  if (format === 'name') return leftNames(report);
  return renderDrainPlan(report, { terminal, isWide: format === 'wide' });
}
