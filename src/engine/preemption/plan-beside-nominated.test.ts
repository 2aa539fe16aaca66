import { expect, test } from 'vitest';
import type { Pod } from '../../kube/api/core.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { readPod } from '../records/pod-record.ts';
import { eraseState, type Rule } from '../rules/framework/rule.ts';
import { topologySpread } from '../rules/topology-spread/rule.ts';
import { dumpIndex } from '../testing/index-dump.ts';
import { byName } from '../testing/objects.ts';
import { type NominatedPlanOptions, planBesideNominated } from './plan-beside-nominated.ts';
import {
  assume,
  crowded,
  high,
  large,
  low,
  medium,
  middle,
  nowMs,
  preempt,
  roomRules,
  running,
  small,
  told,
  veryLarge,
  waiting,
} from './testing/crowded-cluster.ts';

function answerOf(
  index: ClusterIndex,
  asking: Pod,
  nominated: readonly Pod[],
  rest: Partial<NominatedPlanOptions> = {},
): string {
  const options = { nowMs, rules: roomRules, nominated: nominated.map(readPod), ...rest };
  const answer = planBesideNominated(asking, index, options);
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

/** Two empty nodes; the pod that asks is large and of middle priority, so that `node1` would be taken. */
const cases: readonly Case[] = [
  { name: 'where nobody is nominated it is a plan like any other', nominated: [], expected: 'node1' },
  {
    name: 'room that is being made for an equal is left to it',
    nominated: [waiting('rival', middle, large, to('node1'))],
    expected: 'node2',
  },
  {
    name: 'room that is being made for a higher pod is left to it',
    nominated: [waiting('rival', high, large, to('node1'))],
    expected: 'node2',
  },
  {
    name: 'room that is being made for a lower pod may be taken',
    nominated: [waiting('rival', low, large, to('node1'))],
    expected: 'node1',
  },
  {
    name: 'a node with room for both is taken',
    nominated: [waiting('rival', high, medium, to('node1'))],
    expected: 'node1',
  },
  {
    name: 'several on one node add up',
    nominated: [waiting('a', high, medium, to('node1')), waiting('b', high, small, to('node1'))],
    expected: 'node2',
  },
  {
    name: 'the pod is not in its own way',
    asking: waiting('p', middle, large, to('node1')),
    nominated: [waiting('p', middle, large, to('node1'))],
    expected: 'node1',
  },
  {
    name: 'a node that is gone concerns nobody',
    nominated: [waiting('rival', high, large, to('node9'))],
    expected: 'node1',
  },
  {
    name: 'a pod without a nomination concerns nobody',
    nominated: [waiting('rival', high, large)],
    expected: 'node1',
  },
  {
    name: 'where every node is left to others, all of them are told of',
    nominated: [waiting('a', high, large, to('node1')), waiting('b', high, large, to('node2'))],
    expected: '0/2 nodes are available: 2 Insufficient cpu.',
  },
  {
    name: 'nodes that are not asked about are not told of',
    nominated: [waiting('a', high, large, to('node1')), waiting('b', high, large, to('node2'))],
    onlyNodes: ['node1'],
    expected: '0/2 nodes are available: 1 Insufficient cpu.',
  },
];

test.each(byName(cases))(
  '%s',
  (_, { asking = waiting('p', middle, large), nominated, onlyNodes, expected }) => {
    const index = crowded(['node1', 'node2'], []);
    const before = dumpIndex(index);
    expect(answerOf(index, asking, nominated, onlyNodes && { onlyNodes: onlyNodes.values() })).toBe(expected);
    expect(dumpIndex(index)).toEqual(before);
  },
);

test('a nominated pod that counts somewhere already counts there and nowhere else', () => {
  const index = crowded(['node1', 'node2'], []);
  const rival = waiting('rival', high, large, to('node1'));
  assume(index, rival, 'node2');
  expect(answerOf(index, waiting('p', middle, large), [rival])).toBe('node1');
  expect(answerOf(index, waiting('p', middle, large), [rival], { onlyNodes: ['node2'] })).toBe(
    '0/2 nodes are available: 1 Insufficient cpu.',
  );
});

test('a node that is left to others may still be emptied further', () => {
  const index = crowded(['node1'], [running('victim', 'node1', low, medium)]);
  const nominated = [readPod(waiting('rival', high, medium, to('node1')))];
  const refusal = planBesideNominated(waiting('p', middle, large), index, {
    nowMs,
    rules: roomRules,
    nominated,
  });
  expect(refusal.kind === 'refusal' && [...refusal.nodesWithPodsInTheWay()]).toEqual(['node1']);
});

test('preemption makes no room that a nominated pod would need as well', () => {
  const index = crowded(['node1'], [running('victim', 'node1', low, large)]);
  const nominated = [readPod(waiting('rival', high, large, to('node1')))];
  const message = 'preemption: 0/1 nodes are available: 1 Insufficient cpu.';
  expect(told(preempt(index, waiting('p', high, large), { nominated }))).toBe(message);
  expect(told(preempt(index, waiting('p', high, medium + 1), { nominated: [] }))).toBe('node1: victim');
});

/** Wants somebody called `friend` to run, wherever; refuses every node otherwise. Not on a node of its own. */
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

test('a pod that would fit only beside somebody who has yet to come is refused', () => {
  const index = crowded(['node1', 'node2'], []);
  const friend = waiting('friend', high, small, to('node1'));
  const rules = [eraseState(company)];
  // Alone it fits on node1 only; with the friend there, on node2 only.
  expect(answerOf(index, waiting('p', low, small), [], { rules })).toBe('node1');
  expect(answerOf(index, waiting('p', low, small), [friend], { rules })).toMatch(/^0\/2 nodes are available/);
});

test('a pod that fits nowhere beside those to come waits for what speaks against each node', () => {
  const index = crowded(['node1', 'node2'], []);
  const rules = [eraseState(topologySpread)];
  const labels = { app: 'web' };
  const asking = spreading(waiting('p', middle, small, { labels }));
  // Each would crowd its own node; with both there, it could go to either.
  const friends = ['node1', 'node2'].map((node) =>
    waiting(`to-${node}`, middle, small, { labels, ...to(node) }),
  );
  const refusal = planBesideNominated(asking, index, { nowMs, rules, nominated: friends.map(readPod) });
  const { change } = index.upsert('Pod', running('to-node1', 'node1', middle, small, { labels }));
  expect(refusal.kind === 'refusal' && refusal.wokenBy(change!)).toBe(true);
  expect(answerOf(index, asking, friends.slice(1), { rules })).toBe('node2');
});

/** As many of its kind on each node, give or take one. */
function spreading(asking: Pod): Pod {
  const constraint = {
    maxSkew: 1,
    topologyKey: 'kubernetes.io/hostname',
    whenUnsatisfiable: 'DoNotSchedule' as const,
    labelSelector: { matchLabels: { app: 'web' } },
  };
  return { ...asking, spec: { ...asking.spec, topologySpreadConstraints: [constraint] } };
}

test('the choice among the nodes that are left is the usual one', () => {
  const index = crowded(['node1', 'node2', 'node3'], [running('q', 'node2', low, small)]);
  const rival = waiting('rival', high, veryLarge, to('node1'));
  expect(answerOf(index, waiting('p', middle, large), [rival])).toBe('node3');
});
