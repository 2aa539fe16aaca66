import type { Profile } from '../../engine/cluster-index/profile.ts';
import { type DisruptionBudget, readDisruptionBudget } from '../../engine/preemption/disruption-budget.ts';
import { type WhatIfChange, WhatIfError } from '../../engine/what-if/change.ts';
import { predictInSteps } from '../../engine/what-if/predict.ts';
import type { PodOutcome, PodOutcomeKind, Prediction } from '../../engine/what-if/prediction.ts';
import type { Pod } from '../../kube/api/core.ts';
import type { PriorityClass } from '../../kube/api/scheduling.ts';
import { isFinished } from '../../kube/pods.ts';
import { bytesText } from '../../kube/quantities/amount-text.ts';
import { countOf } from '../../kube/quantities/count-text.ts';
import { runInSlices, runToEnd, type SliceOptions } from '../../runtime/run-in-slices.ts';
import type { IndexedSnapshot } from '../../state/cluster-snapshot.ts';
import { placeInFlightPods } from '../explain/in-flight-pods.ts';
import { groupLine, noticeNotes, podReasonLine } from '../explain/lines.ts';
import { findPodScheduler, type PodSchedulerOptions } from '../explain/pod-scheduler.ts';
import { QuestionError } from '../question-error.ts';
import type { ClusterView } from '../view/cluster-view.ts';
import { missingInFiles, unreadForDrain } from './missing-in-files.ts';
import {
  type DeletedPodLine,
  type PlanReport,
  planApiVersion,
  type StrandedPodLine,
  type VolumeCopyLine,
} from './plan-report.ts';
import { planSummary } from './plan-summary.ts';

export type MakePlanOptions = PodSchedulerOptions;

/**
 * Predicts what the changes do to the cluster of the view; throws a QuestionError if one names what does not exist. `onStep` is called with the number of
 * steps that are done: there may be hundreds of thousands.
 */
export function makePlan(
  view: ClusterView,
  changes: readonly WhatIfChange[],
  options: MakePlanOptions,
  onStep: (done: number) => void = () => {},
): PlanReport {
  return runToEnd(planSteps(view, changes, options), onStep);
}

/**
 * As `makePlan`, for a process that has other work to do: it takes turns with it. The answer is about the objects of the view at the time of the call. That is
 * so because the snapshot is copied before the first turn, and the index is built from this copy and used here only; objects are replaced, never changed in
 * place. The other parts of the view must be the caller's own.
 */
export async function planChanges(
  view: ClusterView,
  changes: readonly WhatIfChange[],
  { slices, ...options }: MakePlanOptions & { readonly slices: SliceOptions },
): Promise<PlanReport> {
  const own = { ...view, snapshot: view.snapshot.copy() };
  return await runInSlices(planSteps(own, changes, options), slices);
}

function* planSteps(
  view: ClusterView,
  changes: readonly WhatIfChange[],
  options: MakePlanOptions,
): Generator<void, PlanReport, void> {
  const prepared = yield* whatIfIndexInSteps(view, options);
  const prediction = yield* predictedInSteps(changes, view, prepared, options);
  const { before, after, nodes, notes } = prediction;
  const report = {
    apiVersion: planApiVersion,
    kind: 'PlanReport',
    changes: changes.map(changeText),
    profile: prepared.profile.name,
    before,
    after,
    ...outcomeLines(prediction),
    nodes,
    notes: [
      ...view.notes,
      ...(changes.some(isDrain) ? budgetNotes(view) : []),
      ...prepared.notes,
      ...notes.map((text) => ({ about: 'assumed' as const, text })),
    ],
    unreadKinds: changes.some(isDrain) ? unreadForDrain(view) : [],
  } as const;
  return { ...report, summary: planSummary(report) };
}

interface PreparedIndex extends Pick<IndexedSnapshot, 'index'> {
  readonly profile: Profile;
  readonly notes: ClusterView['notes'];
}

/**
 * The index for what-if questions, with the rules of the scheduler that places most pods. What one pod takes of a pool must be deducted, even if their
 * scheduler does not do that: the pods are placed together.
 */
export function whatIfIndex(view: ClusterView, options: MakePlanOptions): PreparedIndex {
  return runToEnd(whatIfIndexInSteps(view, options));
}

function* whatIfIndexInSteps(
  view: ClusterView,
  options: MakePlanOptions,
): Generator<void, PreparedIndex, void> {
  const scheduler = findPodScheduler(view, usualPod(view), options);
  const { profile: asked } = scheduler;
  const profile: Profile = asked.inFlight === 'off' ? { ...asked, inFlight: 'linear' } : asked;
  const { index, warnings } = yield* view.snapshot.toIndexInSteps(profile);
  index.bindsVolumes = scheduler.bindsVolumes;
  return {
    index,
    profile,
    notes: [...missingInFiles(view), ...scheduler.notes, ...noticeNotes(warnings)],
  };
}

/** A pod with the scheduler name that most pods have. */
function usualPod({ snapshot }: ClusterView): Pod {
  const byName = new Map<string, { readonly pod: Pod; count: number }>();
  for (const pod of snapshot.values('Pod')) {
    if (isFinished(pod)) continue;
    const name = pod.spec?.schedulerName ?? '';
    const known = byName.get(name);
    if (known === undefined) byName.set(name, { pod, count: 1 });
    else known.count += 1;
  }
  return [...byName.values()].sort((a, b) => b.count - a.count)[0]?.pod ?? {};
}

function* predictedInSteps(
  changes: readonly WhatIfChange[],
  view: ClusterView,
  { index }: PreparedIndex,
  { nowMs }: MakePlanOptions,
): Generator<void, Prediction, void> {
  const { snapshot, policies = [] } = view;
  const budgets = budgetsOf({ policies });
  // Safe: optional fields only are read of an object of this kind.
  const priorityClasses = policies.filter(({ kind }) => kind === 'PriorityClass') as readonly PriorityClass[];
  // The index is used for this question only, so it does not have to be restored.
  placeInFlightPods(index, { view, except: '', nowMs });
  try {
    return yield* predictInSteps(changes, index, snapshot, { nowMs, budgets, priorityClasses });
  } catch (error) {
    if (!(error instanceof WhatIfError)) throw error;
    throw new QuestionError(error.message, { cause: error });
  }
}

/** The PodDisruptionBudgets that were read. */
export function budgetsOf({ policies = [] }: Pick<ClusterView, 'policies'>): readonly DisruptionBudget[] {
  return policies.flatMap((object): readonly DisruptionBudget[] => {
    const budget = object.kind === 'PodDisruptionBudget' ? readDisruptionBudget(object) : undefined;
    return budget === undefined ? [] : [budget];
  });
}

/** A budget that could not be read may refuse evictions. */
function budgetNotes(view: ClusterView): ClusterView['notes'] {
  const { policies = [], unreadPolicies = [], isFromFiles = false, isComplete = false } = view;
  const kind = 'PodDisruptionBudget';
  const effect = 'evictions are predicted as if there were none, and may be refused';
  if (unreadPolicies.includes(kind))
    return [
      {
        about: 'unseen',
        text: `could not read poddisruptionbudgets (forbidden): ${effect}; the right to list them in all namespaces is needed`,
      },
    ];
  if (!isFromFiles || isComplete || policies.some((policy) => policy.kind === kind)) return [];
  const remedy = 'add the output of kubectl get pdb -A -o yaml';
  return [{ about: 'missing', text: `there is no ${kind} in the files: ${effect}; ${remedy}` }];
}

function isDrain({ kind }: WhatIfChange): boolean {
  return kind === 'drain-node' || kind === 'drain-drive';
}

function outcomeLines({ outcomes, copies }: Prediction) {
  const of = (kind: PodOutcomeKind) => outcomes.filter(({ outcome }) => outcome === kind);
  const moves = outcomes.flatMap(({ pod, owner, from, to, cause, outcome }) =>
    (outcome === 'moved' || outcome === 'placed') && to !== undefined
      ? [{ pod, owner: textOrNone(owner), from, to, cause }]
      : [],
  );
  const copyLines: readonly VolumeCopyLine[] = copies.map(({ driver, ...copy }) => ({
    ...copy,
    driver: textOrNone(driver),
  }));
  return {
    moves,
    stranded: of('stranded').map(strandedLine),
    stuck: of('stuck').map(strandedLine),
    lost: of('lost').map(goneLine),
    removed: of('removed').map(goneLine),
    stays: of('stays').map(goneLine),
    copies: copyLines,
    copiedBytes: copyLines.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

function strandedLine({ pod, owner, from, cause, why }: PodOutcome): StrandedPodLine {
  return {
    pod,
    owner: textOrNone(owner),
    from,
    cause,
    message: why?.message ?? '',
    podReasons: (why?.podRefusals ?? []).map(podReasonLine),
    nodes: (why?.groups ?? []).map(groupLine),
  };
}

function goneLine({ pod, owner, from }: PodOutcome): DeletedPodLine {
  return { pod, owner: textOrNone(owner), node: from };
}

function textOrNone(text: string): string | undefined {
  return text === '' ? undefined : text;
}

/** The change as a phrase: `drain node n1`. */
function changeText(change: WhatIfChange): string {
  switch (change.kind) {
    case 'drain-node':
      return `drain node ${change.node}`;
    case 'drain-drive':
      return `drain drive ${change.drive}`;
    case 'add-nodes':
      return `add ${countOf(change.count, 'node')} like ${change.like}`;
    case 'add-drive': {
      const tier = change.tier === undefined ? '' : `, tier ${change.tier}`;
      return `add a drive of ${bytesText(change.bytes, 'down')} to ${change.node}${tier}`;
    }
    case 'scale': {
      const { kind, namespace, name } = change.workload;
      return `scale ${kind.toLowerCase()} ${namespace}/${name} to ${change.replicas}`;
    }
    case 'apply':
      return `apply ${countOf(change.objects.length, 'object')}`;
  }
}
