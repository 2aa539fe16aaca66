import { expect, test } from 'vitest';
import type { Pod } from '../../kube/api/core.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { readPod } from '../records/pod-record.ts';
import { eraseState, type Rule } from '../rules/framework/rule.ts';
import { topologySpreadRule } from '../rules/topology-spread/rule.ts';
import { dumpIndex } from '../testing/index-dump.ts';
import { byName } from '../testing/objects.ts';
import { type NominatedPlanOptions, planWithNominated } from './plan-with-nominated.ts';
import {
  assume,
  describePreemption,
  high,
  large,
  low,
  medium,
  middle,
  nowMs,
  pendingPod,
  preempt,
  preemptionCluster,
  resourceRules,
  runningPod,
  small,
  veryLarge,
} from './testing/preemption-cluster.ts';

function answerOf(
  index: ClusterIndex,
  asking: Pod,
  nominated: readonly Pod[],
  rest: Partial<NominatedPlanOptions> = {},
): string {
  const options = { nowMs, rules: resourceRules, nominated: nominated.map(readPod), ...rest };
  const answer = planWithNominated(asking, index, options);
  return answer.kind === 'placement' ? answer.node : answer.message;
}

interface Case {
  readonly name: string;
  readonly asking?: Pod;
  readonly nominated: readonly Pod[];
  readonly onlyNodes?: readonly string[];
  readonly expected: string;
}

const to = (nominatedTo: string) => ({ nominatedTo });

/** Two empty nodes. The planned pod is large and of middle priority, so that `node1` would be chosen. */
const cases: readonly Case[] = [
  { name: 'without nominated pods it is a normal plan', nominated: [], expected: 'node1' },
  {
    name: 'the node of a nominated pod of the same priority is left to it',
    nominated: [pendingPod('rival', middle, large, to('node1'))],
    expected: 'node2',
  },
  {
    name: 'the node of a nominated pod of higher priority is left to it',
    nominated: [pendingPod('rival', high, large, to('node1'))],
    expected: 'node2',
  },
  {
    name: 'the node of a nominated pod of lower priority may be used',
    nominated: [pendingPod('rival', low, large, to('node1'))],
    expected: 'node1',
  },
  {
    name: 'a node that can hold both is chosen',
    nominated: [pendingPod('rival', high, medium, to('node1'))],
    expected: 'node1',
  },
  {
    name: 'several nominated pods on one node add up',
    nominated: [pendingPod('a', high, medium, to('node1')), pendingPod('b', high, small, to('node1'))],
    expected: 'node2',
  },
  {
    name: 'the nomination of the pod itself does not count against it',
    asking: pendingPod('p', middle, large, to('node1')),
    nominated: [pendingPod('p', middle, large, to('node1'))],
    expected: 'node1',
  },
  {
    name: 'a nomination to a deleted node is ignored',
    nominated: [pendingPod('rival', high, large, to('node9'))],
    expected: 'node1',
  },
  {
    name: 'a pod without a nomination is ignored',
    nominated: [pendingPod('rival', high, large)],
    expected: 'node1',
  },
  {
    name: 'if every node is left to others, the message counts all of them',
    nominated: [pendingPod('a', high, large, to('node1')), pendingPod('b', high, large, to('node2'))],
    expected: '0/2 nodes are available: 2 Insufficient cpu.',
  },
  {
    name: 'the message does not count nodes outside onlyNodes',
    nominated: [pendingPod('a', high, large, to('node1')), pendingPod('b', high, large, to('node2'))],
    onlyNodes: ['node1'],
    expected: '0/2 nodes are available: 1 Insufficient cpu.',
  },
];

test.each(byName(cases))(
  '%s',
  (_, { asking = pendingPod('p', middle, large), nominated, onlyNodes, expected }) => {
    const index = preemptionCluster(['node1', 'node2'], []);
    const before = dumpIndex(index);
    expect(answerOf(index, asking, nominated, onlyNodes && { onlyNodes: onlyNodes.values() })).toBe(expected);
    expect(dumpIndex(index)).toEqual(before);
  },
);

test('a nominated pod that already counts on a node counts there and nowhere else', () => {
  const index = preemptionCluster(['node1', 'node2'], []);
  const rival = pendingPod('rival', high, large, to('node1'));
  assume(index, rival, 'node2');
  expect(answerOf(index, pendingPod('p', middle, large), [rival])).toBe('node1');
  expect(answerOf(index, pendingPod('p', middle, large), [rival], { onlyNodes: ['node2'] })).toBe(
    '0/2 nodes are available: 1 Insufficient cpu.',
  );
});

test('preemption may evict more pods from a node that is left to others', () => {
  const index = preemptionCluster(['node1'], [runningPod('victim', 'node1', low, medium)]);
  const nominated = [readPod(pendingPod('rival', high, medium, to('node1')))];
  const refusal = planWithNominated(pendingPod('p', middle, large), index, {
    nowMs,
    rules: resourceRules,
    nominated,
  });
  expect(refusal.kind === 'refusal' && [...refusal.nodesWherePreemptionMayHelp()]).toEqual(['node1']);
});

test('preemption counts the resources that a nominated pod needs', () => {
  const index = preemptionCluster(['node1'], [runningPod('victim', 'node1', low, large)]);
  const nominated = [readPod(pendingPod('rival', high, large, to('node1')))];
  const message = 'preemption: 0/1 nodes are available: 1 Insufficient cpu.';
  expect(describePreemption(preempt(index, pendingPod('p', high, large), { nominated }))).toBe(message);
  expect(describePreemption(preempt(index, pendingPod('p', high, medium + 1), { nominated: [] }))).toBe(
    'node1: victim',
  );
});

/** Refuses every node unless a pod called `friend` runs somewhere, and the node of `friend` too. */
const company: Rule<null> = {
  name: 'Company',
  reasons: ['InsufficientCpu'],
  prepare: () => ({ kind: 'ready', state: null }),
  filter: (_, cycle) => {
    const { rows, count } = cycle.feasibleRows();
    const friend = cycle.index.pods.get('default/friend')?.nodeName ?? '';
    for (const row of rows.slice(0, count)) {
      const name = cycle.index.nodes.record(row)!.key;
      if (name === 'node1' ? friend === 'node1' : friend === '') cycle.reject(row, 1);
    }
  },
  explain: () => [],
  wakes: () => true,
  invalidates: () => true,
};

test('a pod that would fit only together with a nominated pod is refused', () => {
  const index = preemptionCluster(['node1', 'node2'], []);
  const friend = pendingPod('friend', high, small, to('node1'));
  const rules = [eraseState(company)];
  // Without the friend it fits only on node1; with the friend there, only on node2.
  expect(answerOf(index, pendingPod('p', low, small), [], { rules })).toBe('node1');
  expect(answerOf(index, pendingPod('p', low, small), [friend], { rules })).toMatch(
    /^0\/2 nodes are available/,
  );
});

test('a pod that does not fit with the nominated pods waits for the rules that reject each node', () => {
  const index = preemptionCluster(['node1', 'node2'], []);
  const rules = [eraseState(topologySpreadRule)];
  const labels = { app: 'web' };
  const asking = spreading(pendingPod('p', middle, small, { labels }));
  // Each nominated pod alone would block its node; with both of them it could go to either.
  const friends = ['node1', 'node2'].map((node) =>
    pendingPod(`to-${node}`, middle, small, { labels, ...to(node) }),
  );
  const refusal = planWithNominated(asking, index, { nowMs, rules, nominated: friends.map(readPod) });
  const { change } = index.upsert('Pod', runningPod('to-node1', 'node1', middle, small, { labels }));
  expect(refusal.kind === 'refusal' && refusal.wokenBy(change!)).toBe(true);
  expect(answerOf(index, asking, friends.slice(1), { rules })).toBe('node2');
});

/** A spread constraint over nodes with maxSkew 1. */
function spreading(asking: Pod): Pod {
  const constraint = {
    maxSkew: 1,
    topologyKey: 'kubernetes.io/hostname',
    whenUnsatisfiable: 'DoNotSchedule' as const,
    labelSelector: { matchLabels: { app: 'web' } },
  };
  return { ...asking, spec: { ...asking.spec, topologySpreadConstraints: [constraint] } };
}

test('the plan chooses among the remaining nodes as usual', () => {
  const index = preemptionCluster(['node1', 'node2', 'node3'], [runningPod('q', 'node2', low, small)]);
  const rival = pendingPod('rival', high, veryLarge, to('node1'));
  expect(answerOf(index, pendingPod('p', middle, large), [rival])).toBe('node3');
});
