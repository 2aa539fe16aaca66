import type { WhatIfChange } from '../../engine/what-if/change.ts';
import { realClock } from '../../runtime/clock.ts';
import { usage } from '../cli-error.ts';
import { profileFlag } from '../explain/pod-scheduler.ts';
import { logForReading } from '../log-flags.ts';
import { type OutputFormat, outputFormatOf, structured } from '../output/output-format.ts';
import { progressOf } from '../output/progress-of.ts';
import { type Terminal, terminalOf } from '../output/terminal.ts';
import { loadFromSource, type SourceFlags } from '../source/load-cluster-view.ts';
import { applyChange } from './applied-objects.ts';
import { type ChangeFlags, changesOfFlags } from './change-flags.ts';
import { readChangesFile } from './changes-file.ts';
import { makePlan } from './make-plan.ts';
import type { PlanReport } from './plan-report.ts';
import { renderPlan, strandedNames } from './render-plan.ts';
import { requireNodes } from './require-nodes.ts';

export interface PlanFlags extends SourceFlags, ChangeFlags {
  readonly apply?: readonly string[];
  readonly changes?: string;
  readonly namespace?: string;
  readonly profile?: string;
  readonly output: string;
}

/** `stowage plan`: prints what the changes would do, and sets the exit status. */
export async function planCommand(flags: PlanFlags): Promise<void> {
  const format = outputFormatOf(flags.output);
  const profile = profileFlag(flags.profile);
  // Wrong usage is reported before a cluster is read.
  const changes = changesOf(flags, flags.namespace ?? 'default');
  const log = logForReading(flags);
  const progress = progressOf(log);
  const target = { namespace: flags.namespace, needsPolicies: true };
  const loaded = await loadFromSource(flags, target, { log, progress });
  requireNodes(loaded);
  progress.tell('predicting');
  const asked = flags.namespace === undefined ? changesOf(flags, loaded.namespace) : changes;
  const report = makePlan(loaded.view, asked, { nowMs: realClock.nowMs(), profile });
  progress.end();
  process.stdout.write(renderedPlan(report, format, terminalOf(process.stdout, process.env)));
  process.exitCode = exitCodeOfPlan(report, asked);
}

function changesOf(flags: PlanFlags, namespace: string): readonly WhatIfChange[] {
  const entries = [flags, ...(flags.changes === undefined ? [] : readChangesFile(flags.changes))];
  const changes = entries.flatMap((entry) => [
    ...changesOfFlags(entry, namespace),
    ...((entry.apply ?? []).length > 0 ? [applyChange(entry.apply!, namespace)] : []),
  ]);
  if (changes.length === 0)
    throw usage('say what changes: --drain, --add-nodes, --add-drive, --replicas, --apply or --changes');
  return changes;
}

export function renderedPlan(report: PlanReport, format: OutputFormat, terminal: Terminal): string {
  if (format === 'json' || format === 'yaml') return structured(report, format);
  if (format === 'name') return strandedNames(report);
  return renderPlan(report, { terminal, isWide: format === 'wide' });
}

/**
 * 3 if a pod that the changes move or create has no node in the end, or if a drive cannot be emptied. Pods that were pending before count only if the changes
 * do nothing but add nodes and drives: then whether they fit is the question.
 */
export function exitCodeOfPlan({ stranded, stuck }: PlanReport, changes: readonly WhatIfChange[]): number {
  const onlyAdds = changes.every(({ kind }) => kind === 'add-nodes' || kind === 'add-drive');
  const counted = stranded.filter(({ cause }) => onlyAdds || cause !== 'pending');
  return counted.length + stuck.length > 0 ? 3 : 0;
}
