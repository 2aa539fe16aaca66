import type { PodDisruptionBudget } from '../../kube/api/policy.ts';
import {
  type CompiledLabelSelector,
  compileLabelSelector,
  matchesLabels,
} from '../../kube/selectors/label-selector.ts';
import { isRecord, textOf } from '../../kube/wire.ts';
import type { PodRecord } from '../records/pod-record.ts';

/** The part of a PodDisruptionBudget that preemption reads. */
export interface DisruptionBudget {
  readonly namespace: string;
  readonly selector: CompiledLabelSelector;
  readonly disruptionsAllowed: number;
  /** Names of pods whose eviction has already been granted and counted. */
  readonly disruptedPods: ReadonlySet<string>;
}

/** Undefined if it protects no pod from preemption, because its selector is absent, empty or malformed. */
export function readDisruptionBudget(object: PodDisruptionBudget): DisruptionBudget | undefined {
  const budget: PodDisruptionBudget = isRecord(object) ? object : {};
  const compiled = compileLabelSelector(budget.spec?.selector);
  if (!compiled.ok || compiled.selector.requirements.length === 0) return undefined;
  const { disruptionsAllowed, disruptedPods } = budget.status ?? {};
  return {
    namespace: textOf(budget.metadata?.namespace),
    selector: compiled.selector,
    disruptionsAllowed: typeof disruptionsAllowed === 'number' ? disruptionsAllowed : 0,
    disruptedPods: new Set(isRecord(disruptedPods) ? Object.keys(disruptedPods) : []),
  };
}

/**
 * The pods whose eviction would violate a budget if all of them were evicted in this order. The first ones use up the allowed
 * disruptions.
 */
export function podsViolatingBudgets(
  pods: readonly PodRecord[],
  budgets: readonly DisruptionBudget[],
): ReadonlySet<PodRecord> {
  const breaking = new Set<PodRecord>();
  const allowed = budgets.map(({ disruptionsAllowed }) => disruptionsAllowed);
  for (const pod of pods) {
    for (const [at, budget] of budgets.entries()) {
      if (!counts(budget, pod)) continue;
      allowed[at]! -= 1;
      if (allowed[at]! < 0) breaking.add(pod);
    }
  }
  return breaking;
}

function counts({ namespace, selector, disruptedPods }: DisruptionBudget, pod: PodRecord): boolean {
  return (
    namespace === pod.namespace &&
    // Kubernetes applies no budget to a pod without labels, not even one that selects by the absence of a label.
    Object.keys(pod.labels).length > 0 &&
    matchesLabels(selector, pod.labels) &&
    !disruptedPods.has(pod.name)
  );
}
