import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import type { FilterOptions } from '../evaluation/filter-nodes.ts';
import type { PodRecord } from '../records/pod-record.ts';
import type { PreemptionCandidate } from './best-candidate.ts';
import { type DisruptionBudget, podsViolatingBudgets } from './disruption-budget.ts';
import { byImportance } from './importance.ts';
import {
  type InlineCapacity,
  inlineCapacityOf,
  returnInlineCapacity,
  takeInlineCapacity,
} from './inline-capacity.ts';
import { hasReleasingVolumes, returnLeavingVolumes } from './leaving-volumes.ts';
import { type NominatedByNode, withNominated } from './nominated-pods.ts';
import { type RuleRejection, rejectionsOn } from './rejections.ts';

export interface DryRunOptions extends FilterOptions {
  readonly budgets: readonly DisruptionBudget[];
  readonly nominatedByNode: NominatedByNode;
}

export type DryRun =
  | { readonly kind: 'candidate'; readonly candidate: PreemptionCandidate }
  /** Evicting pods does not help on this node. `texts` are kube-scheduler's. */
  | {
      readonly kind: 'unhelpful';
      readonly texts: readonly string[];
      readonly rejections: readonly RuleRejection[];
    };

const noVictims: DryRun = {
  kind: 'unhelpful',
  texts: ['No preemption victims found for incoming pod'],
  rejections: [],
};

/**
 * The pods that have to leave this node for the pod to fit. As in kube-scheduler, the dry run removes every pod of lower priority, then
 * puts them back one by one while the pod still fits: pods that a budget protects first, the most important first. The pods that could not
 * be put back are the victims. The index is restored at the end.
 */
export function victimsOnNode(
  pod: PodRecord,
  node: string,
  index: ClusterIndex,
  options: DryRunOptions,
): DryRun {
  const lower = lowerPriorityPodsOn(node, pod, index);
  if (lower.length === 0) return noVictims;
  const savepoint = index.savepoint();
  try {
    const capacities = new Map(lower.map((victim) => [victim, removePod(victim, index)]));
    const ask = () => rejectionsOf(pod, node, index, options);
    const rejections = ask();
    if (rejections.length > 0) return unhelpful(rejections);
    return candidateOf(node, lower, options, (victim) =>
      isReprieved(victim, capacities.get(victim)!, index, ask),
    );
  } finally {
    index.rollback(savepoint);
  }
}

/**
 * Whether only the end of preempted pods keeps the pod from the node: it would fit there if all pods that are leaving were gone, and the volumes that they leave
 * behind. Only volumes of pods that have ended already count as a reason to wait: for pods that are still there, kube-scheduler has its own rule.
 */
export function waitsForReleasingVolumes(
  pod: PodRecord,
  node: string,
  index: ClusterIndex,
  options: DryRunOptions,
): boolean {
  if (!hasReleasingVolumes(pod, node, index)) return false;
  const savepoint = index.savepoint();
  try {
    for (const other of [...index.pods.onNode(node)]) if (other.isDeleting) removePod(other, index);
    returnLeavingVolumes(pod, node, index);
    return rejectionsOf(pod, node, index, options).length === 0;
  } finally {
    index.rollback(savepoint);
  }
}

function unhelpful(rejections: readonly RuleRejection[]): DryRun {
  return { kind: 'unhelpful', texts: rejections.map(({ text }) => text), rejections };
}

/** Pods on the node that this one may evict, including pods that are only assumed there. */
export function lowerPriorityPodsOn(
  node: string,
  { priority }: PodRecord,
  index: ClusterIndex,
): readonly PodRecord[] {
  if (priority <= index.pods.lowestPriority) return [];
  return [...index.pods.onNode(node)].filter((other) => other.priority < priority);
}

/** The pod must fit both with the pods that are nominated to the node and without them. */
function rejectionsOf(
  pod: PodRecord,
  node: string,
  index: ClusterIndex,
  options: DryRunOptions,
): readonly RuleRejection[] {
  const ask = () => rejectionsOn(node, pod, index, options);
  const there = options.nominatedByNode.get(node);
  const beside = there === undefined ? [] : withNominated(index, there, options, ask);
  return beside.length > 0 ? beside : ask();
}

function candidateOf(
  node: string,
  lower: readonly PodRecord[],
  { budgets, nowMs }: DryRunOptions,
  mayStay: (victim: PodRecord) => boolean,
): DryRun {
  const ranked = byImportance(lower, nowMs);
  const violating = podsViolatingBudgets(ranked, budgets);
  const rest = ranked.filter((victim) => !violating.has(victim));
  const violators = [...violating].filter((victim) => !mayStay(victim));
  const others = rest.filter((victim) => !mayStay(victim));
  const victims = byImportance([...violators, ...others], nowMs);
  if (victims.length === 0) return noVictims;
  return { kind: 'candidate', candidate: { node, victims, violations: violators.length } };
}

function removePod(pod: PodRecord, index: ClusterIndex): InlineCapacity {
  const capacity = inlineCapacityOf(pod, index);
  const { key } = pod;
  // A pod that is only assumed has no node in the cluster; only the assumption is removed.
  if ((index.pods.stored(key)?.nodeName ?? '') !== '') index.remove('Pod', key);
  if (index.pods.assumed(key) !== undefined) index.setAssumedPod(key, undefined);
  returnInlineCapacity(capacity, index);
  return capacity;
}

/** Puts the victim back; it stays if the preemptor still fits. To the rules an assumed pod counts like a running one. */
function isReprieved(
  victim: PodRecord,
  capacity: InlineCapacity,
  index: ClusterIndex,
  ask: () => readonly RuleRejection[],
): boolean {
  index.setAssumedPod(victim.key, victim);
  takeInlineCapacity(capacity, index);
  if (ask().length === 0) return true;
  index.setAssumedPod(victim.key, undefined);
  returnInlineCapacity(capacity, index);
  return false;
}
