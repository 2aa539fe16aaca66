/**
 * Node selector and node affinity. The required part is one topology of the index. The index finds it from its rarest label or its node
 * names and shares it between all pods that ask for the same, so a pod that is pinned to one node reads the labels of one node.
 */

import type { ClusterChange, ObjectChange } from '../../cluster-index/cluster-change.ts';
import type { Topology } from '../../cluster-index/nodes/topology-table.ts';
import { haveSameLabels } from '../../records/labels.ts';
import { matcherHolds } from '../../records/node-matcher.ts';
import type { NodeRecord } from '../../records/node-record.ts';
import { type PodNodeAffinity, podNodeAffinityOf } from '../../records/pod-shape/pod-node-affinity.ts';
import type { PreferredNodes } from '../../records/preferred-nodes.ts';
import type { Cycle } from '../framework/cycle.ts';
import type { Finding } from '../framework/finding.ts';
import { plainFinding } from '../framework/plain-finding.ts';
import { type Interest, type PodRefusal, type Prepared, type Rule, skip } from '../framework/rule.ts';
import { podReasons } from '../reasons.ts';
import { isOwnSpecChange } from '../wake-conditions/own-spec.ts';

interface NodeAffinityState {
  readonly required: Topology | undefined;
  readonly pins: ReadonlySet<string> | undefined;
  readonly preferred: readonly PreferredNodes[];
}

const mismatchBit = 1;
const leftOutBit = 2;
const scoreMax = 100;

export const nodeAffinityRule: Rule<NodeAffinityState> = {
  name: 'NodeAffinity',
  reasons: ['NodeAffinityMismatch', 'LeftOutByName'],
  prepare,
  filter,
  score: { weight: 2, run: scorePreferred },
  explain,
  wakes,
  invalidates: (interest, change) =>
    isOwnSpecChange(interest, change) || (change.kind === 'Node' && labelsDiffer(change)),
};

function prepare(cycle: Cycle): Prepared<NodeAffinityState> {
  const { required, requiredNames: pins, preferred } = podNodeAffinityOf(cycle.pod.shape);
  if (pins?.size === 0) return { kind: 'refuse', refusals: [termsConflict] };
  if (required === undefined && preferred.length === 0) return skip;
  if (pins !== undefined) rejectUnnamed(cycle, pins);
  const topology = required && cycle.index.topologyCache.get(required);
  return { kind: 'ready', state: { required: topology, pins, preferred } };
}

const termsConflict: PodRefusal = {
  reason: 'AffinityTermsConflict',
  claim: undefined,
  message: podReasons.AffinityTermsConflict.upstream,
};

/** Runs before any rule filters: as in kube-scheduler, no other rule reports on nodes that the pod does not name. */
function rejectUnnamed(cycle: Cycle, pins: ReadonlySet<string>): void {
  const named = new Set<number | undefined>([...pins].map((name) => cycle.index.nodes.row(name)));
  const { rows: nodes, count } = cycle.feasibleRows();
  for (let position = 0; position < count; position++) {
    const node = nodes[position]!;
    if (!named.has(node)) cycle.reject(node, leftOutBit);
  }
}

function filter({ required }: NodeAffinityState, cycle: Cycle): void {
  if (required === undefined) return;
  const { rows: nodes, count } = cycle.feasibleRows();
  for (let position = 0; position < count; position++) {
    const node = nodes[position]!;
    if (!required.nodes.has(node)) cycle.reject(node, mismatchBit);
  }
}

/** The sum of the weights of the terms that match a node, scaled so that the best node has 100. */
function scorePreferred({ preferred }: NodeAffinityState, cycle: Cycle, scores: Float64Array): void {
  let most = 0;
  for (const { weight, nodes } of preferred) {
    cycle.index.topologyCache.get(nodes).nodes.each((node) => {
      if (!cycle.isFeasible(node)) return;
      scores[node]! += weight;
      most = Math.max(most, scores[node]!);
    });
  }
  if (most === 0) return;
  const { rows: nodes, count } = cycle.feasibleRows();
  for (let position = 0; position < count; position++) {
    const node = nodes[position]!;
    scores[node] = Math.floor((scoreMax * scores[node]!) / most);
  }
}

function explain({ required, pins }: NodeAffinityState, { index }: Cycle, node: number): readonly Finding[] {
  if (required === undefined || required.nodes.has(node)) return [];
  const isLeftOut = pins !== undefined && !pins.has(index.nodes.record(node)!.key);
  return [plainFinding(nodeAffinityRule.name, isLeftOut ? 'LeftOutByName' : 'NodeAffinityMismatch')];
}

function wakes(interest: Interest, change: ClusterChange): boolean {
  if (isOwnSpecChange(interest, change)) return true;
  if (change.kind !== 'Node' || change.after === undefined) return false;
  const asked = podNodeAffinityOf(interest.pod.shape);
  return accepts(asked, change.after) && (change.before === undefined || !accepts(asked, change.before));
}

function accepts({ required }: PodNodeAffinity, { key, labels }: NodeRecord): boolean {
  return required === undefined || matcherHolds(required, key, labels);
}

function labelsDiffer({ before, after }: ObjectChange<'Node'>): boolean {
  return before === undefined || after === undefined || !haveSameLabels(before, after);
}
