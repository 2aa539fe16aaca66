import type { Pod } from '../../kube/api/core.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { formatCounts } from '../evaluation/refusal-message.ts';
import { type PodRecord, readPod } from '../records/pod-record.ts';
import type { Refusal } from '../refusal/refusal.ts';
import type { AnyRule } from '../rules/framework/rule.ts';
import { bestCandidate, type PreemptionCandidate } from './best-candidate.ts';
import type { DisruptionBudget } from './disruption-budget.ts';
import { nominatedRivals } from './nominated-pods.ts';
import { blockingOf, type RuleRejection } from './rejections.ts';
import { lowerPriorityPodsOn, victimsOnNode, waitsForReleasingVolumes } from './victims-on-node.ts';

/** How many candidates the search collects: a percentage of the nodes, but at least `min`. */
interface CandidateLimits {
  readonly percent: number;
  readonly min: number;
}

const candidateLimitsDefault: CandidateLimits = { percent: 10, min: 100 };

export interface PreemptionOptions {
  readonly nowMs: number;
  /** The rules that refused the pod. */
  readonly rules?: readonly AnyRule[];
  readonly budgets: readonly DisruptionBudget[];
  /** Pods that wait for the node that they are nominated to. */
  readonly nominated: readonly PodRecord[];
  /** Where among the nodes the search begins; equal seeds give equal choices. A whole number, 0 or more. */
  readonly seed: number;
  readonly candidateLimits?: CandidateLimits;
}

export type Preemption =
  | {
      readonly kind: 'victims';
      readonly node: string;
      /** The most important first. */
      readonly victims: readonly Victim[];
      /** How many of them violate a PodDisruptionBudget. */
      readonly violations: number;
    }
  | {
      readonly kind: 'none';
      /** kube-scheduler's text, appended to the refusal's own message. May be empty. */
      readonly message: string;
      /** Whether the pod keeps waiting for the node that it is nominated to. */
      readonly keepsNomination: boolean;
      /** The rules that refuse the pod even without the other pods. If they accept it later, evicting may help. */
      readonly blockingRules: readonly AnyRule[];
      /** Some node could not attach the volumes even without the other pods. */
      readonly lacksSlots: boolean;
      /** The node that victims are already leaving. */
      readonly vacatingNode: string | undefined;
    };

export interface Victim {
  readonly pod: PodRecord;
  /** It is not bound yet: the scheduler can drop the reservation instead of deleting the pod. */
  readonly isAssumed: boolean;
}

/**
 * Which pods to evict so that a refused pod fits, as kube-scheduler's default preemption decides. The refusal must be the answer for
 * the current index. Leaves the index as it was.
 */
export function findVictims(
  pod: Pod,
  refusal: Refusal,
  index: ClusterIndex,
  options: PreemptionOptions,
): Preemption {
  if (refusal.nodeCount === 0) return { kind: 'none', message: '', ...notTried };
  if (!index.profile.mentionsDynamicResources) return preempt(pod, refusal, index, options);
  if (refusal.podRefusals.length > 0) return { kind: 'none', message: 'not found', ...notTried };
  const preemption = preempt(pod, refusal, index, options);
  if (preemption.kind === 'victims') return preemption;
  return { ...preemption, message: `no new claims to deallocate, ${preemption.message}` };
}

function preempt(pod: Pod, refusal: Refusal, index: ClusterIndex, options: PreemptionOptions): Preemption {
  const nodes = [...refusal.nodesWherePreemptionMayHelp()].sort();
  const record = readPod(pod);
  if (!record.preemptsOthers)
    return { kind: 'none', message: 'preemption: not eligible due to preemptionPolicy=Never.', ...notTried };
  if (isPreemptionInProgress(record, nodes, index)) {
    const message = 'preemption: not eligible due to a terminating pod on the nominated node.';
    return { kind: 'none', message, ...notTried, vacatingNode: record.nominatedNode };
  }
  const dryRun = { ...options, nominatedByNode: nominatedRivals(record, index, options.nominated) };
  if (waitsForReleasingVolumes(record, record.nominatedNode, index, dryRun)) {
    const message = 'preemption: not eligible due to volumes that are being deleted on the nominated node.';
    return { kind: 'none', message, ...notTried, vacatingNode: record.nominatedNode };
  }
  const { candidates, texts, rejections } = findCandidates(record, nodes, index, options);
  const best = bestCandidate(candidates, options.nowMs);
  if (best !== undefined) return victimsOf(best, index);
  const message = notHelpfulMessage(refusal.nodeCount, nodes.length, texts);
  const blocking = blockingOf(rejections);
  return { kind: 'none', message, keepsNomination: false, ...blocking, vacatingNode: undefined };
}

const notTried = {
  keepsNomination: true,
  blockingRules: [],
  lacksSlots: false,
  vacatingNode: undefined,
} as const;

/** The pod does not wait for a node on which preemption can't help, even if pods are terminating there. */
function isPreemptionInProgress(pod: PodRecord, nodes: readonly string[], index: ClusterIndex): boolean {
  const { nominatedNode } = pod;
  return (
    nodes.includes(nominatedNode) &&
    lowerPriorityPodsOn(nominatedNode, pod, index).some(
      ({ isDeleting, isPreempted }) => isDeleting && isPreempted,
    )
  );
}

interface CandidateSearch {
  readonly candidates: readonly PreemptionCandidate[];
  /** The number of nodes for each text; complete only if there are no candidates. */
  readonly texts: ReadonlyMap<string, number>;
  readonly rejections: readonly RuleRejection[];
}

function findCandidates(
  pod: PodRecord,
  nodes: readonly string[],
  index: ClusterIndex,
  { seed, candidateLimits = candidateLimitsDefault, nominated, ...rest }: PreemptionOptions,
): CandidateSearch {
  const options = { ...rest, nominatedByNode: nominatedRivals(pod, index, nominated) };
  const wanted = candidatesWanted(nodes.length, candidateLimits);
  const candidates: PreemptionCandidate[] = [];
  const texts = new Map<string, number>();
  const rejections: RuleRejection[] = [];
  let harmless = 0;
  for (let tried = 0; tried < nodes.length; tried++) {
    const node = nodes[(seed + tried) % nodes.length]!;
    const dryRun = victimsOnNode(pod, node, index, options);
    if (dryRun.kind === 'unhelpful') {
      for (const text of dryRun.texts) texts.set(text, (texts.get(text) ?? 0) + 1);
      rejections.push(...dryRun.rejections);
      continue;
    }
    candidates.push(dryRun.candidate);
    if (dryRun.candidate.violations === 0) harmless += 1;
    if (harmless > 0 && candidates.length >= wanted) break;
  }
  return { candidates, texts, rejections };
}

function candidatesWanted(nodeCount: number, { percent, min }: CandidateLimits): number {
  return Math.min(nodeCount, Math.max(min, Math.floor((nodeCount * percent) / 100)));
}

function victimsOf({ node, victims, violations }: PreemptionCandidate, index: ClusterIndex): Preemption {
  const isAssumed = ({ key }: PodRecord) => (index.pods.stored(key)?.nodeName ?? '') === '';
  return {
    kind: 'victims',
    node,
    victims: victims.map((pod) => ({ pod, isAssumed: isAssumed(pod) })),
    violations,
  };
}

/** Counts the nodes on which preemption could not help from the start, and the texts of the others. */
function notHelpfulMessage(
  nodeCount: number,
  triedCount: number,
  texts: ReadonlyMap<string, number>,
): string {
  const counts = new Map(texts);
  if (triedCount < nodeCount) counts.set('Preemption is not helpful for scheduling', nodeCount - triedCount);
  return `preemption: 0/${nodeCount} nodes are available: ${formatCounts(counts)}.`;
}
