import type { Pod } from '../../kube/api/core.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { readPod } from '../records/pod-record.ts';
import { Cycle } from '../rules/cycle.ts';
import { nodeReasons } from '../rules/reasons.ts';
import type { AnyRule } from '../rules/rule.ts';
import { reasonsIn } from '../rules/verdict.ts';
import type { NodeAnswers } from './oracle/neighbours.ts';

/** What one rule says of each node: why it refuses it, or what it scores. */
export function nodeAnswers(index: ClusterIndex, pod: Pod, rule: AnyRule): NodeAnswers {
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
