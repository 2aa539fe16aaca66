import { isReady } from '../../../engine/workloads/pod-state.ts';
import { scaledValue } from '../../../engine/workloads/scaled-value.ts';
import type { Pod } from '../../../kube/api/core.ts';
import type { Condition, Int64, StringMap } from '../../../kube/api/meta.ts';
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from '../../../kube/api/policy.ts';
import { setCondition } from '../../../kube/conditions.ts';
import { canonicalJson } from '../../../kube/go/json-text.ts';
import { formatTimestamp, parseTimestamp } from '../../../kube/go/timestamp.ts';

/** A pod whose eviction was granted counts as gone for this long; after that it evidently stays. */
export const deletionTimeoutMs = 2 * 60_000;

/** How many pods the controllers of a budget's pods should have together. */
export type ExpectedScale =
  | { readonly kind: 'known'; readonly pods: number; readonly unmanaged: readonly string[] }
  | { readonly kind: 'unknown'; readonly why: string };

export interface BudgetView {
  readonly budget: PodDisruptionBudget;
  /** The pods that the budget's selector matches. */
  readonly pods: readonly Pod[];
  readonly scale: ExpectedScale;
  /** Whether another pod of the same name was deleted recently. */
  hasPredecessor(pod: Pod): boolean;
  readonly nowMs: number;
}

export interface BudgetPlan {
  readonly status: BudgetStatus;
  readonly isStatusCurrent: boolean;
  /** Pods whose eviction was granted and that still exist. */
  readonly overdue: readonly Pod[];
  /** When the next eviction is overdue. */
  readonly recheckMs: number | undefined;
  readonly unmanaged: readonly string[];
  /** Why no disruption is allowed, if the expected number is unknown. */
  readonly failure: string | undefined;
}

export type BudgetStatus = Required<PodDisruptionBudgetStatus>;

/** How many of the budget's pods may be evicted now. */
export function planBudget(view: BudgetView): BudgetPlan {
  const { budget, pods, nowMs } = view;
  const { waiting, overdue, recheckMs } = disruptions(view);
  const expected = expectation(view);
  if (expected.kind === 'unknown') return failed(view, expected.why);
  const currentHealthy = pods.filter((pod) => isHealthy(pod, waiting)).length;
  const { desiredHealthy, expectedPods, unmanaged } = expected;
  const disruptionsAllowed = expectedPods <= 0 ? 0 : Math.max(0, currentHealthy - desiredHealthy);
  const observedGeneration = budget.metadata?.generation ?? 0;
  const status = {
    currentHealthy,
    desiredHealthy,
    expectedPods,
    disruptionsAllowed,
    disruptedPods: waiting,
    observedGeneration,
    conditions: allowedConditions(budget, disruptionsAllowed, observedGeneration, nowMs),
  };
  return {
    status,
    isStatusCurrent: isCurrent(budget, status),
    overdue,
    recheckMs,
    unmanaged,
    failure: undefined,
  };
}

/** A merge patch, which names the pods that are no longer waited for. */
export function budgetStatusPatch(
  { status: before = {} }: PodDisruptionBudget,
  status: BudgetStatus,
): object {
  const gone = Object.keys(before.disruptedPods ?? {}).filter((name) => !(name in status.disruptedPods));
  const disruptedPods = { ...status.disruptedPods, ...Object.fromEntries(gone.map((name) => [name, null])) };
  const isEmpty = Object.keys(status.disruptedPods).length === 0;
  return {
    ...status,
    disruptedPods: isEmpty ? null : disruptedPods,
    observedGeneration: status.observedGeneration || null,
  };
}

type Expectation =
  | {
      readonly kind: 'known';
      readonly expectedPods: number;
      readonly desiredHealthy: number;
      readonly unmanaged: readonly string[];
    }
  | { readonly kind: 'unknown'; readonly why: string };

/** Only an absolute minAvailable can be evaluated without the expected number of pods. */
function expectation({ budget, pods, scale }: BudgetView): Expectation {
  const { minAvailable, maxUnavailable } = budget.spec ?? {};
  if (maxUnavailable === undefined && typeof minAvailable !== 'string') {
    const expectedPods = minAvailable === undefined ? 0 : pods.length;
    return { kind: 'known', expectedPods, desiredHealthy: minAvailable ?? 0, unmanaged: [] };
  }
  if (scale.kind === 'unknown') return scale;
  const { pods: expectedPods, unmanaged } = scale;
  const desiredHealthy =
    maxUnavailable === undefined
      ? scaledValue(minAvailable, expectedPods, 'up')
      : Math.max(0, expectedPods - scaledValue(maxUnavailable, expectedPods, 'up'));
  return { kind: 'known', expectedPods, desiredHealthy, unmanaged };
}

interface Disruptions {
  /** When the eviction of each was granted. */
  readonly waiting: StringMap;
  readonly overdue: readonly Pod[];
  readonly recheckMs: number | undefined;
}

function disruptions(view: BudgetView): Disruptions {
  const { budget, pods, nowMs } = view;
  const granted = budget.status?.disruptedPods ?? {};
  const waiting: Record<string, string> = {};
  const overdue: Pod[] = [];
  const waits: number[] = [];
  for (const pod of pods) {
    const since = granted[pod.metadata?.name ?? ''];
    if (since === undefined || pod.metadata?.deletionTimestamp !== undefined) continue;
    if (isSuccessor(pod, since, view)) continue;
    const leftMs = (parseTimestamp(since) ?? 0) + deletionTimeoutMs - nowMs;
    if (leftMs < 0) overdue.push(pod);
    else {
      waiting[pod.metadata?.name ?? ''] = since;
      // One millisecond later: at exactly that time it still counts.
      waits.push(leftMs + 1);
    }
  }
  return { waiting, overdue, recheckMs: waits.length === 0 ? undefined : Math.min(...waits) };
}

/** The eviction was granted for an earlier pod of the name. */
function isSuccessor(pod: Pod, since: string, { hasPredecessor }: BudgetView): boolean {
  const createdMs = parseTimestamp(pod.metadata?.creationTimestamp) ?? 0;
  const grantedMs = parseTimestamp(since) ?? 0;
  return createdMs > grantedMs || (createdMs === grantedMs && hasPredecessor(pod));
}

function isHealthy(pod: Pod, waiting: StringMap): boolean {
  const { name = '', deletionTimestamp } = pod.metadata ?? {};
  return deletionTimestamp === undefined && !Object.hasOwn(waiting, name) && isReady(pod);
}

/** Allows no disruption, to be safe; everything else stays unchanged. */
function failed({ budget, nowMs }: BudgetView, why: string): BudgetPlan {
  const { currentHealthy = 0, desiredHealthy = 0, expectedPods = 0 } = budget.status ?? {};
  const { disruptedPods = {}, observedGeneration = 0, conditions } = budget.status ?? {};
  const condition = {
    type: 'DisruptionAllowed',
    status: 'False',
    reason: 'SyncFailed',
    message: why,
  } as const;
  const status = {
    currentHealthy,
    desiredHealthy,
    expectedPods,
    disruptionsAllowed: 0,
    disruptedPods,
    observedGeneration,
    conditions: setCondition<Condition>(
      conditions,
      observed(condition, observedGeneration),
      formatTimestamp(nowMs),
    ),
  };
  const isStatusCurrent = isCurrent(budget, status);
  return { status, isStatusCurrent, overdue: [], recheckMs: undefined, unmanaged: [], failure: why };
}

function allowedConditions(
  { status }: PodDisruptionBudget,
  allowed: number,
  generation: Int64,
  nowMs: number,
): readonly Condition[] {
  const isAllowed = allowed > 0;
  const condition = {
    type: 'DisruptionAllowed',
    status: isAllowed ? 'True' : 'False',
    reason: isAllowed ? 'SufficientPods' : 'InsufficientPods',
    message: '',
  } as const;
  return setCondition<Condition>(status?.conditions, observed(condition, generation), formatTimestamp(nowMs));
}

function observed(condition: Condition, observedGeneration: Int64): Condition {
  return observedGeneration === 0 ? condition : { ...condition, observedGeneration };
}

function isCurrent({ status = {} }: PodDisruptionBudget, wanted: BudgetStatus): boolean {
  const { disruptedPods = {}, conditions = [], observedGeneration = 0 } = status;
  const { currentHealthy, desiredHealthy, expectedPods, disruptionsAllowed } = status;
  const counts = { currentHealthy, desiredHealthy, expectedPods, disruptionsAllowed };
  return (
    canonicalJson({ ...counts, disruptedPods, conditions, observedGeneration }) === canonicalJson(wanted)
  );
}
