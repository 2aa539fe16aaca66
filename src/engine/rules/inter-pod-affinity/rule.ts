/**
 * Required and preferred affinity and anti-affinity to other pods. Anti-affinity works both ways: a pod on a node can refuse a new pod. A
 * pod with affinity to pods like itself may be the first of them.
 */
import { noDomain } from '../../cluster-index/nodes/domain-table.ts';
import { podTermsOf } from '../../records/pod-shape/pod-affinity.ts';
import type { Cycle } from '../framework/cycle.ts';
import type { Finding } from '../framework/finding.ts';
import { plainFinding } from '../framework/plain-finding.ts';
import { type Prepared, type Rule, skip } from '../framework/rule.ts';
import { podMessage } from '../reasons.ts';
import { affinityStateOf, type DomainCounts, type PodAffinityState } from './affinity-state.ts';
import { scoreByAffinity } from './score.ts';
import { affinityInvalidates, affinityWakes } from './wakes.ts';

const affinityBit = 1;
const antiAffinityBit = 2;
const refusedBit = 4;

export const interPodAffinityRule: Rule<PodAffinityState> = {
  name: 'InterPodAffinity',
  reasons: ['AffinityNotMet', 'AntiAffinityNotMet', 'RefusedByNeighbours'],
  prepare,
  filter,
  score: { weight: 2, run: scoreByAffinity },
  explain,
  wakes: affinityWakes,
  invalidates: affinityInvalidates,
};

function prepare({ index, pod }: Cycle): Prepared<PodAffinityState> {
  const { problem } = podTermsOf(pod.shape);
  if (problem !== undefined) {
    const message = podMessage('MalformedPodAffinity', { problem });
    return { kind: 'refuse', refusals: [{ reason: 'MalformedPodAffinity', claim: undefined, message }] };
  }
  const state = affinityStateOf(index, pod);
  return state === undefined ? skip : { kind: 'ready', state };
}

function filter(state: PodAffinityState, cycle: Cycle): void {
  if (state.wanted.length + state.unwanted.length + state.refusing.length === 0) return;
  const { rows: nodes, count } = cycle.feasibleRows();
  for (let position = 0; position < count; position++) {
    const node = nodes[position]!;
    if (!hasWanted(state, node)) cycle.reject(node, affinityBit);
    else if (hasAny(state.unwanted, node)) cycle.reject(node, antiAffinityBit);
    else if (hasAny(state.refusing, node)) cycle.reject(node, refusedBit);
  }
}

/** The node needs a label for each topology key, and its domain a matching pod unless this pod may be the first. */
function hasWanted({ wanted, mayBeFirst }: PodAffinityState, node: number): boolean {
  for (let at = 0; at < wanted.length; at++) {
    const { domains, counts } = wanted[at]!;
    const domain = domains.of[node]!;
    if (domain === noDomain || (counts[domain] === 0 && !mayBeFirst)) return false;
  }
  return true;
}

function hasAny(sums: readonly DomainCounts[], node: number): boolean {
  for (let at = 0; at < sums.length; at++) {
    const { domains, counts } = sums[at]!;
    const domain = domains.of[node]!;
    if (domain !== noDomain && counts[domain]! > 0) return true;
  }
  return false;
}

function explain(state: PodAffinityState, _cycle: Cycle, node: number): readonly Finding[] {
  const findings: Finding[] = [];
  if (!hasWanted(state, node)) findings.push(plainFinding(interPodAffinityRule.name, 'AffinityNotMet'));
  if (hasAny(state.unwanted, node))
    findings.push(plainFinding(interPodAffinityRule.name, 'AntiAffinityNotMet'));
  if (hasAny(state.refusing, node))
    findings.push(plainFinding(interPodAffinityRule.name, 'RefusedByNeighbours'));
  return findings;
}
