import type { WhatIfChange } from '../../engine/what-if/change.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import type { ChangeWords } from '../../queries/plan/change-words.ts';
import { makePlan } from '../../queries/plan/make-plan.ts';
import { type PlanReport, stuckVolumes } from '../../queries/plan/plan-report.ts';
import { realClock } from '../../runtime/clock.ts';
import { usage } from '../errors/cli-error.ts';
import { changesOfFlags } from '../flags/change-flags.ts';
import { logForReading } from '../flags/log-flags.ts';
import { profileFlag } from '../flags/profile-flag.ts';
import { type OutputFormat, outputFormatOf, structured } from '../output/output-format.ts';
import { progressOf } from '../output/progress-of.ts';
import { type Terminal, terminalOf } from '../output/terminal.ts';
import { loadFromSource, type SourceFlags } from '../source/load-cluster-view.ts';
import { requireNodes } from '../source/require-nodes.ts';
import { applyChange, readApplied } from './applied-objects.ts';
import { entryError, readChangesFile } from './changes-file.ts';
import { renderPlan, strandedNames } from './render.ts';

export interface PlanFlags extends SourceFlags, ChangeWords {
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
  // Files are read once, because standard input cannot be read again.
  const entries = entriesOf(flags);
  // Wrong usage is reported before a cluster is read.
  changesOf(entries, flags.namespace ?? 'default');
  const log = logForReading(flags);
  const progress = progressOf(log);
  const target = { namespace: flags.namespace, needsPolicies: true };
  const loaded = await loadFromSource(flags, target, { log, progress });
  requireNodes(loaded);
  progress.tell('predicting');
  const changes = changesOf(entries, loaded.namespace);
  const nowMs = realClock.nowMs();
  const applied = changes.flatMap((change) => (change.kind === 'apply' ? change.objects : []));
  if (applied.length > 0) {
    const { checkApplied } = await import('./check-applied.ts');
    checkApplied(applied, loaded.view.snapshot, nowMs);
  }
  const report = makePlan(loaded.view, changes, { nowMs, profile }, (done) =>
    progress.tell(`predicting: ${done} steps are done`),
  );
  progress.end();
  process.stdout.write(renderedPlan(report, format, terminalOf(process.stdout, process.env)));
  process.exitCode = exitCodeOfPlan(report, changes);
}

/** The flags, or an entry of `--changes`, with the objects of the files that it names. */
interface ChangeEntry {
  readonly flags: ChangeWords;
  readonly objects: readonly KubeObject[];
  readonly where?: string;
}

function entriesOf(flags: PlanFlags): readonly ChangeEntry[] {
  const named = flags.changes === undefined ? [] : readChangesFile(flags.changes);
  return [flags, ...named].map(({ apply = [], ...entry }) => ({
    flags: entry,
    objects: apply.length === 0 ? [] : readApplied(apply),
    ...('where' in entry && { where: entry.where }),
  }));
}

function changesOf(entries: readonly ChangeEntry[], namespace: string): readonly WhatIfChange[] {
  const changes = entries.flatMap(({ flags, objects, where }) => {
    try {
      const applied = objects.length === 0 ? [] : [applyChange(objects, namespace)];
      return [...changesOfFlags(flags, namespace), ...applied];
    } catch (error) {
      throw entryError(error, where);
    }
  });
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
 * 3 if a pod that the changes move or create has no node in the end, if a drive cannot be emptied, or if not everything on a drained node or drive could be
 * read. Pods that were pending before count only if the changes
 * do nothing but add nodes and drives: then whether they fit is the question.
 */
export function exitCodeOfPlan(report: PlanReport, changes: readonly WhatIfChange[]): number {
  const onlyAdds = changes.every(({ kind }) => kind === 'add-nodes' || kind === 'add-drive');
  const counted = report.stranded.filter(({ cause }) => onlyAdds || cause !== 'pending');
  return counted.length + stuckVolumes(report).length + report.unreadKinds.length > 0 ? 3 : 0;
}
