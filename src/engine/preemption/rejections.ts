import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { type FilterOptions, filterNodes, verdictOn } from '../evaluation/filter-nodes.ts';
import { countTexts } from '../evaluation/refusal-message.ts';
import type { PodRecord } from '../records/pod-record.ts';
import type { AnyRule } from '../rules/framework/rule.ts';

export interface RuleRejection {
  readonly rule: AnyRule;
  /** In kube-scheduler's words. */
  readonly text: string;
}

/**
 * Why the pod doesn't fit on this one node; empty if it does. Dry runs ask thousands of times: a refusal,
 * which speaks of all nodes, would cost more than the rules.
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
