import type { Pod } from '../../kube/api/core.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { readPod } from '../records/pod-record.ts';
import { Cycle } from '../rules/framework/cycle.ts';
import type { AnyRule } from '../rules/framework/rule.ts';
import { reasonsIn } from '../rules/framework/verdict.ts';
import { nodeReasons } from '../rules/reasons.ts';
import type { RuleAnswers } from './oracle/inter-pod.ts';

/** The result of one rule for each node: its reasons if it refuses the node, else the score. */
export function ruleAnswers(index: ClusterIndex, pod: Pod, rule: AnyRule): RuleAnswers {
  const cycle = new Cycle(index, readPod(pod), 0);
  const prepared = rule.prepare(cycle);
  const scores = new Float64Array(cycle.rowCount);
  if (prepared.kind === 'ready') {
    rule.filter(prepared.state, cycle);
    rule.score?.run(prepared.state, cycle, scores);
  }
  return Object.fromEntries(
    index.nodes.rowsByName.map((row) => [
      index.nodes.record(row)!.key,
      cycle.isFeasible(row) ? scores[row]! : textOf(rule, cycle.verdicts[row]!),
    ]),
  );
}

function textOf(rule: AnyRule, verdict: number): string {
  return reasonsIn(verdict, rule.reasons)
    .map((reason) => nodeReasons[reason].upstream)
    .join(', ');
}
