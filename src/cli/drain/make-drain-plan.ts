import { bytesText } from '../../engine/remedies/amount-text.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { DiskObjects } from '../disks/disk-objects.ts';
import type { MakePlanOptions } from '../plan/make-plan.ts';
import type { ClusterView } from '../source/cluster-view.ts';
import type { Note } from '../source/note.ts';
import { type DrainPlanReport, type DrainStep, drainApiVersion, type LeftLine } from './drain-report.ts';
import { type DrainTarget, drainTargetText } from './drain-target.ts';
import { driveSteps } from './drive-steps.ts';
import { nodeSteps } from './node-steps.ts';

/** What a plan is made from. */
export interface DrainFacts {
  readonly view: ClusterView;
  /** Undefined if there are none, or if they cannot be read: then a note says so. */
  readonly disks: DiskObjects | undefined;
  readonly clock: Clock;
  readonly profile: MakePlanOptions['profile'];
}

/** What the parts of a plan find out. */
export interface DrainParts {
  readonly steps: readonly Omit<DrainStep, 'number'>[];
  readonly left: readonly LeftLine[];
  readonly stays: readonly string[];
  readonly notes: readonly Note[];
}

/** The order in which the target can be emptied; throws a CliError if it does not exist. */
export function makeDrainPlan(target: DrainTarget, facts: DrainFacts): DrainPlanReport {
  const { steps, left, stays, notes } =
    target.kind === 'node' ? nodeSteps(target.name, facts) : driveSteps(target.name, facts);
  const numbered = steps.map((step, at) => ({ number: at + 1, ...step }));
  const copiedBytes = sum(steps.flatMap(({ volumes }) => volumes.filter(({ to }) => to !== undefined)));
  const leftBytes = sum(left);
  const report = {
    apiVersion: drainApiVersion,
    kind: 'DrainPlanReport',
    target: drainTargetText(target),
    steps: numbered,
    left,
    stays,
    copiedBytes,
    leftBytes,
    notes: [...notes, ...(facts.disks?.notes ?? [])],
  } as const;
  return { ...report, summary: summaryOf(report) };
}

function summaryOf(report: Omit<DrainPlanReport, 'summary'>): string {
  const { target, steps, left, copiedBytes, leftBytes } = report;
  const what = target.replace('/', ' ');
  const open = steps.filter(({ isDone }) => !isDone).length;
  const pods = steps.flatMap((step) => step.pods).length;
  const parts = [
    open === 0 ? 'no step is left to do' : counted(open, 'step', 'steps'),
    ...(pods === 0 ? [] : [`${counted(pods, 'pod', 'pods')} to stop`]),
    ...(copiedBytes === 0 ? [] : [`${bytesText(copiedBytes, 'up')} to copy`]),
  ];
  const lasts = left.filter(({ kind }) => kind !== 'pod').length;
  const leftPods = left.length - lasts;
  const rest = [
    ...(lasts === 0 ? [] : [`${counted(lasts, 'volume', 'volumes')} (${bytesText(leftBytes, 'up')})`]),
    ...(leftPods === 0 ? [] : [counted(leftPods, 'pod', 'pods')]),
  ];
  const end =
    rest.length === 0 ? 'Nothing is left on it then.' : `What Stowage cannot move: ${rest.join(', ')}.`;
  return `Empty ${what}: ${parts.join(', ')}. ${end}`;
}

/** 3 if something is left that Stowage cannot move. */
export function exitCodeOfDrain({ left }: DrainPlanReport): number {
  return left.length > 0 ? 3 : 0;
}

function counted(count: number, one: string, many: string): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;
}

function sum(lines: readonly { readonly bytes: number }[]): number {
  return lines.reduce((all, { bytes }) => all + bytes, 0);
}
