import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { type FilterOptions, filterNodes, verdictOn } from '../evaluation/filter-nodes.ts';
import { countTexts } from '../evaluation/refusal-message.ts';
import type { PodRecord } from '../records/pod-record.ts';
import type { AnyRule } from '../rules/framework/rule.ts';
import { hasReason } from '../rules/framework/verdict.ts';
import type { PreemptionWait } from '../waking/waker.ts';

export interface RuleRejection {
  readonly rule: AnyRule;
  /** kube-scheduler's text. */
  readonly text: string;
  /** The node can attach no more volumes. */
  readonly lacksSlots: boolean;
}

/** The rules that keep a pod from nodes, and whether one of these nodes can attach no more volumes. */
export type Blocking = Required<Pick<PreemptionWait, 'blockingRules' | 'lacksSlots'>>;

export function blockingOf(rejections: readonly RuleRejection[]): Blocking {
  return {
    blockingRules: [...new Set(rejections.map(({ rule }) => rule))],
    lacksSlots: rejections.some(({ lacksSlots }) => lacksSlots),
  };
}

/**
 * Why the pod does not fit on this one node; empty if it fits. Dry runs call this thousands of times, and building a refusal, which covers
 * all nodes, would cost more than the rules.
 */
export function rejectionsOn(
  node: string,
  pod: PodRecord,
  index: ClusterIndex,
  options: FilterOptions,
): readonly RuleRejection[] {
  const judged = filterNodes(pod, index, { ...options, onlyNodes: [node] });
  const { cycle, prepared } = judged;
  const { refusedBy } = prepared;
  if (refusedBy !== undefined)
    return prepared.refusals.map(({ message }) => ({
      rule: refusedBy,
      text: message,
      lacksSlots: false,
    }));
  const row = index.nodes.row(node);
  if (row === undefined || cycle.isFeasible(row)) return [];
  const verdict = verdictOn(judged, row);
  const { rule } = verdict;
  const lacksSlots = hasReason(verdict.verdict, rule.reasons, 'AttachLimitReached');
  return [...countTexts([verdict]).keys()].map((text) => ({ rule, text, lacksSlots }));
}
