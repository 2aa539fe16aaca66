import { bytesText } from '../../kube/quantities/amount-text.ts';
import { countOf } from '../../kube/quantities/count-text.ts';
import { type DrainTarget, drainTargetText } from '../plan/drain-target.ts';
import { QuestionError } from '../question-error.ts';
import { budgetKind, type DrainFacts, unreadKinds } from './drain-facts.ts';
import { type DrainPlanReport, drainApiVersion } from './drain-report.ts';
import { driveSteps } from './drive-steps.ts';
import { nodeSteps } from './node-steps.ts';

/** The order in which the target can be emptied; throws a `QuestionError` if it does not exist. */
export function makeDrainPlan(target: DrainTarget, facts: DrainFacts): DrainPlanReport {
  requireListed(target, facts);
  const { steps, left, stays, notes } =
    target.kind === 'node' ? nodeSteps(target.name, facts) : driveSteps(target.name, facts);
  const numbered = steps.map((step, at) => ({ number: at + 1, ...step }));
  const copiedBytes = sum(steps.flatMap(({ volumes }) => volumes.filter(({ to }) => to !== undefined)));
  const leftBytes = sum(left);
  const stopsPods = steps.some(({ pods }) => pods.length > 0);
  const unread = unreadKinds(facts).filter((kind) => kind !== budgetKind || stopsPods);
  const report = {
    apiVersion: drainApiVersion,
    kind: 'DrainPlanReport',
    target: drainTargetText(target),
    steps: numbered,
    left,
    isComplete: unread.length === 0,
    unreadKinds: unread,
    stays,
    copiedBytes,
    leftBytes,
    notes: [...notes, ...(facts.disks?.notes ?? [])],
  } as const;
  return { ...report, summary: summaryOf(report) };
}

/** Throws if the caller may not list objects of this kind: the target may exist. */
function requireListed({ kind }: DrainTarget, { view }: DrainFacts): void {
  const unseen = view.unseen?.find((one) => one.kind === (kind === 'drive' ? 'Drive' : 'Node'));
  if (unseen !== undefined)
    throw new QuestionError(`could not read ${unseen.plural}: forbidden; ask for the right to list them`);
}

function summaryOf(report: Omit<DrainPlanReport, 'summary'>): string {
  const { target, steps, left, copiedBytes, leftBytes, isComplete } = report;
  const unread = report.unreadKinds.filter((kind) => kind !== budgetKind);
  const what = target.replace('/', ' ');
  const open = steps.filter(({ isDone }) => !isDone).length;
  const pods = steps.flatMap((step) => step.pods).length;
  const parts = [
    open === 0 ? 'no step is left to do' : countOf(open, 'step'),
    ...(pods === 0 ? [] : [`${countOf(pods, 'pod')} to stop`]),
    ...(copiedBytes === 0 ? [] : [`${bytesText(copiedBytes, 'up')} to copy`]),
  ];
  const lasts = left.filter(({ kind }) => kind !== 'pod').length;
  const leftPods = left.length - lasts;
  const rest = [
    ...(lasts === 0 ? [] : [`${countOf(lasts, 'volume')} (${bytesText(leftBytes, 'up')})`]),
    ...(leftPods === 0 ? [] : [countOf(leftPods, 'pod')]),
  ];
  const nothing = isComplete ? 'Nothing is left on it then.' : '';
  const end = rest.length === 0 ? nothing : `What Stowage cannot move: ${rest.join(', ')}.`;
  const unknown = unread.length === 0 ? '' : 'Not everything could be read, so more may be left.';
  const budgets =
    report.unreadKinds.length === unread.length
      ? ''
      : 'PodDisruptionBudgets could not be read, so evictions may be refused.';
  const sentences = [`Empty ${what}: ${parts.join(', ')}.`, end, unknown, budgets];
  return sentences.filter((text) => text !== '').join(' ');
}

/** 3 if something is left that Stowage cannot move, or may be. */
export function exitCodeOfDrain({ left, isComplete }: DrainPlanReport): number {
  return left.length > 0 || !isComplete ? 3 : 0;
}

function sum(lines: readonly { readonly bytes: number }[]): number {
  return lines.reduce((all, { bytes }) => all + bytes, 0);
}
