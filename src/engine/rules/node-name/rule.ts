/** A pod that is planned although it names its node fits only that node. */
import type { ClusterChange } from '../../cluster-index/cluster-change.ts';
import type { Cycle } from '../framework/cycle.ts';
import type { Finding } from '../framework/finding.ts';
import { plainFinding } from '../framework/plain-finding.ts';
import { type Interest, type Prepared, type Rule, skip } from '../framework/rule.ts';

/** The name of the requested node. */
type NameState = string;

const otherNodeBit = 1;

export const nodeNameRule: Rule<NameState> = {
  name: 'NodeName',
  reasons: ['OtherNodeRequested'],
  prepare: ({ pod }): Prepared<NameState> =>
    pod.nodeName === '' ? skip : { kind: 'ready', state: pod.nodeName },
  filter,
  explain: (name, { index }, node): readonly Finding[] =>
    index.nodes.row(name) === node ? [] : [plainFinding(nodeNameRule.name, 'OtherNodeRequested')],
  wakes,
  invalidates: (_, change) =>
    change.kind === 'Node' && (change.before === undefined || change.after === undefined),
};

function filter(name: NameState, cycle: Cycle): void {
  const requested = cycle.index.nodes.row(name);
  const { rows: nodes, count } = cycle.feasibleRows();
  for (let position = 0; position < count; position++) {
    const node = nodes[position]!;
    if (node !== requested) cycle.reject(node, otherNodeBit);
  }
}

function wakes({ pod }: Interest, change: ClusterChange): boolean {
  if (change.kind !== 'Node' || change.before !== undefined) return false;
  return pod.nodeName === '' || change.after?.key === pod.nodeName;
}
