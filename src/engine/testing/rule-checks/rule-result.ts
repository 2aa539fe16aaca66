/** All that one rule says about one pod, in words that an obvious oracle can say too. */
import type { Pod } from '../../../kube/api/core.ts';
import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import { readPod } from '../../records/pod-record.ts';
import { Cycle } from '../../rules/framework/cycle.ts';
import { prepareRules } from '../../rules/framework/prepare-rules.ts';
import type { AnyRule } from '../../rules/framework/rule.ts';
import { reasonsIn } from '../../rules/framework/verdict.ts';
import type { NodeReason, PodReason } from '../../rules/reasons.ts';

export interface RuleResult {
  readonly refusals: readonly PodReason[];
  /** Why each node is refused, by name; nodes that fit aren't here. */
  readonly refused: Readonly<Record<string, readonly NodeReason[]>>;
  /** Of the nodes that fit, if the rule scores and has something to do with the pod. */
  readonly scores: Readonly<Record<string, number>>;
}

export function evaluateRule(rule: AnyRule, index: ClusterIndex, asking: Pod): RuleResult {
  const cycle = new Cycle(index, readPod(asking), 0);
  const { active, refusals } = prepareRules(cycle, [rule]);
  if (refusals.length > 0) return { refusals: refusals.map(({ reason }) => reason), refused: {}, scores: {} };
  const scores = new Float64Array(cycle.rowCount);
  for (const { state } of active) {
    rule.filter(state, cycle);
    rule.score?.run(state, cycle, scores);
  }
  const nodes = index.nodes.rowsByName.map((row) => ({ row, name: index.nodes.record(row)!.key }));
  const isScored = active.length > 0 && rule.score !== undefined;
  return {
    refusals: [],
    refused: Object.fromEntries(
      nodes
        .filter(({ row }) => !cycle.isFeasible(row))
        .map(({ row, name }) => [name, reasonsIn(cycle.verdicts[row]!, rule.reasons)]),
    ),
    scores: Object.fromEntries(
      nodes
        .filter(({ row }) => isScored && cycle.isFeasible(row))
        .map(({ row, name }) => [name, scores[row]!]),
    ),
  };
}
