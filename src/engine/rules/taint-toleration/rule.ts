/**
 * Taints repel pods that do not tolerate them: NoSchedule and NoExecute always, PreferNoSchedule if there is a better node. Nodes share
 * lists of taints, so the rule checks each list once instead of each node.
 */
import type { Taint, Toleration } from '../../../kube/api/core.ts';
import { findUntoleratedTaint, toleratesTaint } from '../../../kube/selectors/tolerations.ts';
import type { ClusterChange } from '../../cluster-index/cluster-change.ts';
import { taintsKey } from '../../cluster-index/nodes/taint-table.ts';
import { nonNullItems } from '../../records/field-readers.ts';
import type { NodeRecord } from '../../records/node-record.ts';
import type { Cycle } from '../framework/cycle.ts';
import type { Finding } from '../framework/finding.ts';
import { plainFinding } from '../framework/plain-finding.ts';
import { type Interest, type Prepared, type Rule, skip } from '../framework/rule.ts';
import { isOwnSpecChange } from '../wake-conditions/own-spec.ts';

type Tolerations = readonly Toleration[];

const untoleratedBit = 1;
const scoreMax = 100;

export const taintTolerationRule: Rule<Tolerations> = {
  name: 'TaintToleration',
  reasons: ['TaintNotTolerated'],
  prepare,
  filter,
  score: { weight: 3, run: scoreTaints },
  explain,
  wakes,
  invalidates: (interest, change) =>
    isOwnSpecChange(interest, change) ||
    (change.kind === 'Node' && taintsDiffer(change.before, change.after)),
};

/** Without any taint in the cluster the rule does not apply. */
function prepare({ index, pod }: Cycle): Prepared<Tolerations> {
  if (index.nodeTraits.taints.isEmpty) return skip;
  return { kind: 'ready', state: nonNullItems(pod.shape.spec.tolerations) };
}

function filter(tolerations: Tolerations, cycle: Cycle): void {
  for (const { taints, nodes } of cycle.index.nodeTraits.taints.lists()) {
    if (accepts(tolerations, taints)) continue;
    nodes.each((node) => {
      if (cycle.isFeasible(node)) cycle.reject(node, untoleratedBit);
    });
  }
}

function accepts(tolerations: Tolerations, taints: readonly Taint[]): boolean {
  return findUntoleratedTaint(taints, tolerations, ['NoSchedule', 'NoExecute']) === undefined;
}

/** The fewer untolerated PreferNoSchedule taints, the better; the node with the most of them scores 0. */
function scoreTaints(tolerations: Tolerations, cycle: Cycle, scores: Float64Array): void {
  let most = 0;
  for (const { taints, nodes } of cycle.index.nodeTraits.taints.lists()) {
    const untolerated = countUntolerated(tolerations, taints);
    nodes.each((node) => {
      if (!cycle.isFeasible(node)) return;
      scores[node] = untolerated;
      most = Math.max(most, untolerated);
    });
  }
  const { rows: nodes, count } = cycle.feasibleRows();
  for (let position = 0; position < count; position++) {
    const node = nodes[position]!;
    scores[node] = most === 0 ? scoreMax : scoreMax - Math.floor((scoreMax * scores[node]!) / most);
  }
}

function countUntolerated(tolerations: Tolerations, taints: readonly Taint[]): number {
  return taints.filter(
    (taint) =>
      taint.effect === 'PreferNoSchedule' &&
      !tolerations.some((toleration) => toleratesTaint(toleration, taint)),
  ).length;
}

function explain(tolerations: Tolerations, { index }: Cycle, node: number): readonly Finding[] {
  return accepts(tolerations, index.nodes.record(node)!.taints)
    ? []
    : [plainFinding(taintTolerationRule.name, 'TaintNotTolerated')];
}

function wakes(interest: Interest, change: ClusterChange): boolean {
  if (isOwnSpecChange(interest, change)) return true;
  if (change.kind !== 'Node' || change.after === undefined) return false;
  const tolerations = nonNullItems(interest.pod.shape.spec.tolerations);
  const { before, after } = change;
  return accepts(tolerations, after.taints) && (before === undefined || !accepts(tolerations, before.taints));
}

function taintsDiffer(before: NodeRecord | undefined, after: NodeRecord | undefined): boolean {
  return before === undefined || after === undefined || taintsKey(before.taints) !== taintsKey(after.taints);
}
