/** The complete result of one rule for one pod, in a form that a simple oracle can also produce. */
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
  /** The reasons of each refused node, by name. */
  readonly refused: Readonly<Record<string, readonly NodeReason[]>>;
  /** The scores of the nodes that fit, if the rule scores and applies to the pod. */
  readonly scores: Readonly<Record<string, number>>;
}

export function evaluateRule(rule: AnyRule, index: ClusterIndex, pod: Pod): RuleResult {
  const cycle = new Cycle(index, readPod(pod), 0);
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
