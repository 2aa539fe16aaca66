/** A node with `spec.unschedulable` accepts only pods that tolerate the corresponding taint. */
import type { Taint } from '../../../kube/api/core.ts';
import { toleratesTaint } from '../../../kube/selectors/tolerations.ts';
import type { ClusterChange } from '../../cluster-index/cluster-change.ts';
import { nonNullItems } from '../../records/field-readers.ts';
import { memoByShape } from '../../records/pod-shape/pod-shape.ts';
import type { Cycle } from '../framework/cycle.ts';
import type { Finding } from '../framework/finding.ts';
import { plainFinding } from '../framework/plain-finding.ts';
import { type Interest, type Prepared, type Rule, skip } from '../framework/rule.ts';
import { isOwnSpecChange } from '../wake-conditions/own-spec.ts';

const unschedulableBit = 1;
const unschedulableTaint: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

export const nodeUnschedulableRule: Rule<true> = {
  name: 'NodeUnschedulable',
  reasons: ['MarkedUnschedulable'],
  prepare,
  filter,
  explain,
  wakes,
  invalidates: (interest, change) =>
    isOwnSpecChange(interest, change) ||
    (change.kind === 'Node' && change.before?.isUnschedulable !== change.after?.isUnschedulable),
};

const toleratesCordon = memoByShape(({ tolerations }) =>
  nonNullItems(tolerations).some((toleration) => toleratesTaint(toleration, unschedulableTaint)),
);

function prepare({ index, pod }: Cycle): Prepared<true> {
  const { unschedulable } = index.nodeTraits;
  return unschedulable.size === 0 || toleratesCordon(pod.shape) ? skip : { kind: 'ready', state: true };
}

function filter(_: true, cycle: Cycle): void {
  cycle.index.nodeTraits.unschedulable.each((node) => {
    if (cycle.isFeasible(node)) cycle.reject(node, unschedulableBit);
  });
}

function explain(_: true, { index }: Cycle, node: number): readonly Finding[] {
  return index.nodeTraits.unschedulable.has(node)
    ? [plainFinding(nodeUnschedulableRule.name, 'MarkedUnschedulable')]
    : [];
}

function wakes(interest: Interest, change: ClusterChange): boolean {
  if (isOwnSpecChange(interest, change)) return true;
  if (change.kind !== 'Node' || change.after === undefined) return false;
  const accepts = toleratesCordon(interest.pod.shape) || !change.after.isUnschedulable;
  return accepts && (change.before === undefined || change.before.isUnschedulable);
}
