import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { type FilterOptions, filterNodes, verdictOn } from '../evaluation/filter-nodes.ts';
import { countTexts } from '../evaluation/refusal-message.ts';
import type { PodRecord } from '../records/pod-record.ts';
import type { AnyRule } from '../rules/framework/rule.ts';

export interface RuleRejection {
  readonly rule: AnyRule;
  /** kube-scheduler's text. */
  readonly text: string;
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
    return prepared.refusals.map(({ message }) => ({ rule: refusedBy, text: message }));
  const row = index.nodes.row(node);
  if (row === undefined || cycle.isFeasible(row)) return [];
  const verdict = verdictOn(judged, row);
  return [...countTexts([verdict]).keys()].map((text) => ({ rule: verdict.rule, text }));
}
