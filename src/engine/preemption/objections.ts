import { countTexts } from '../explain/message.ts';
import type { ClusterIndex } from '../index/cluster-index.ts';
import { type JudgeOptions, judge } from '../judge.ts';
import type { PodRecord } from '../records/pod-record.ts';
import { verdictRule } from '../rules/cycle.ts';

/**
 * Why the pod doesn't fit on this one node, in kube-scheduler's words; empty if it does. Dry runs ask thousands of times: a refusal,
 * which speaks of all nodes, would cost more than the rules.
 */
export function objectionsOn(
  node: string,
  pod: PodRecord,
  index: ClusterIndex,
  options: JudgeOptions,
): readonly string[] {
  const { cycle, rules, prepared } = judge(pod, index, { ...options, onlyNodes: [node] });
  if (prepared.refusedBy !== undefined) return prepared.refusals.map(({ message }) => message);
  const row = index.nodes.row(node);
  if (row === undefined || cycle.isFeasible(row)) return [];
  const verdict = cycle.verdicts[row]!;
  const notes = cycle.notes.get(row) ?? [];
  return [...countTexts([{ rule: rules[verdictRule(verdict)]!, verdict, notes }]).keys()];
}
