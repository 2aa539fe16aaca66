import { expect, test } from 'vitest';
import type { Node, Pod } from '../../kube/api/core.ts';
import type { PodDisruptionBudget } from '../../kube/api/policy.ts';
import { dumpIndex } from '../testing/index-dump.ts';
import { byName } from '../testing/objects.ts';
import { readDisruptionBudget } from './disruption-budget.ts';
import {
  assume,
  describePreemption,
  high,
  large,
  low,
  medium,
  middle,
  nodeWithCpu,
  type PodTraits,
  pendingPod,
  preempt,
  preemptionCluster,
  runningPod,
  small,
  veryHigh,
  veryLarge,
} from './testing/preemption-cluster.ts';

interface Case {
  readonly name: string;
  readonly nodes?: readonly (string | Node)[];
  readonly asking: Pod;
  readonly pods: readonly Pod[];
  readonly budgets?: readonly PodDisruptionBudget[];
  readonly expected: string;
}

const foo: PodTraits = { labels: { app: 'foo' } };
const onePod = (name: string) => nodeWithCpu(name, veryLarge, 1);
/** Too small for a large pod, even when empty. */
const tight = (name: string) => nodeWithCpu(name, medium);

function budget(disruptionsAllowed: number, rest: Partial<PodDisruptionBudget['status']> = {}, app = 'foo') {
  return {
    metadata: { namespace: 'default', name: app },
    spec: { selector: { matchLabels: { app } } },
    status: { disruptionsAllowed, ...rest },
  };
}

const cases: readonly Case[] = [
  {
    name: 'a pod of higher priority replaces one of lower priority',
    nodes: [onePod('node1')],
    asking: pendingPod('p', high, 0),
    pods: [runningPod('p1', 'node1', low, 0)],
    expected: 'node1: p1',
  },
  {
    name: 'a pod does not evict pods of the same priority',
    nodes: [onePod('node1')],
    asking: pendingPod('p', low, 0),
    pods: [runningPod('p1', 'node1', low, 0)],
    expected: 'preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.',
  },
  {
    name: 'a node that is too small even when empty is not a candidate',
    nodes: [tight('node1')],
    asking: pendingPod('p', high, large),
    pods: [runningPod('p1', 'node1', low, small)],
    expected: 'preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.',
  },
  {
    name: 'of two nodes the one with a pod of lower priority is chosen',
    nodes: [onePod('node1'), onePod('node2')],
    asking: pendingPod('p', middle, 0),
    pods: [runningPod('p1', 'node1', high, 0), runningPod('p2', 'node2', low, 0)],
    expected: 'node2: p2',
  },
  {
    name: 'the message counts nodes that are short even without their lower pods, and nodes without victims',
    nodes: ['node1', 'node2', tight('node3')],
    asking: pendingPod('p', high, large),
    pods: [
      runningPod('p1', 'node1', high, large),
      runningPod('p2', 'node2', high, large),
      runningPod('p3', 'node2', low, small),
      runningPod('p4', 'node3', low, small),
    ],
    expected:
      'preemption: 0/3 nodes are available: 1 Insufficient cpu, 1 No preemption victims found for incoming pod, ' +
      '1 Preemption is not helpful for scheduling.',
  },
  {
    name: 'a lower pod stays if the node can hold both pods',
    nodes: ['node1'],
    asking: pendingPod('p', high, large),
    pods: [runningPod('p1.1', 'node1', low, small), runningPod('p1.2', 'node1', middle, large)],
    expected: 'node1: p1.2',
  },
  {
    name: 'more important pods are put back first, and pods of the same priority stay',
    asking: pendingPod('p', high, large),
    pods: [
      runningPod('p1.1', 'node1', middle, small),
      runningPod('p1.2', 'node1', low, small),
      runningPod('p1.3', 'node1', middle, medium),
      runningPod('p1.4', 'node1', high, small),
      runningPod('p2', 'node2', high, large),
    ],
    expected: 'node1: p1.3, p1.2',
  },
  {
    name: 'among equal priorities the pod that has run longer stays',
    asking: pendingPod('p', high, large),
    pods: [
      runningPod('p1.1', 'node1', low, small, { started: 5 }),
      runningPod('p1.2', 'node1', low, small, { started: 4 }),
      runningPod('p1.3', 'node1', middle, medium, { started: 3 }),
      runningPod('p1.4', 'node1', high, small, { started: 2 }),
      runningPod('p2', 'node2', high, large, { started: 1 }),
    ],
    expected: 'node1: p1.3, p1.1',
  },
  {
    name: 'a pod that has not started is evicted before one that has',
    nodes: ['node1'],
    asking: pendingPod('p', high, large),
    pods: [runningPod('p1.1', 'node1', low, large), runningPod('p1.2', 'node1', low, medium, { started: 4 })],
    expected: 'node1: p1.1',
  },
  {
    name: 'a second eviction violates a budget that allows one',
    nodes: ['node1'],
    asking: pendingPod('p', high, veryLarge),
    pods: [
      runningPod('p1.1', 'node1', middle, medium, foo),
      runningPod('p1.2', 'node1', middle, medium, foo),
    ],
    budgets: [budget(1)],
    expected: 'node1: p1.1, p1.2 (1 budget)',
  },
  {
    name: 'an eviction that a budget has already granted violates nothing',
    nodes: ['node1'],
    asking: pendingPod('p', high, veryLarge),
    pods: [
      runningPod('p1.1', 'node1', middle, medium, foo),
      runningPod('p1.2', 'node1', middle, medium, foo),
    ],
    budgets: [budget(1, { disruptedPods: { 'p1.2': '2026-01-01T00:00:00Z' } })],
    expected: 'node1: p1.1, p1.2',
  },
  {
    name: 'a budget of another namespace, an empty one and one of other pods do not protect the pod',
    nodes: ['node1'],
    asking: pendingPod('p', high, veryLarge),
    pods: [runningPod('p1', 'node1', middle, medium, foo)],
    budgets: [
      { ...budget(0), metadata: { namespace: 'other', name: 'b' } },
      { ...budget(0), spec: { selector: {} } },
      { ...budget(0), spec: {} },
      budget(0, {}, 'bar'),
    ],
    expected: 'node1: p1',
  },
  {
    name: 'no budget protects a pod without labels, not even one that selects by the absence of a label',
    nodes: ['node1'],
    asking: pendingPod('p', high, veryLarge),
    pods: [
      runningPod('p1', 'node1', middle, medium),
      runningPod('p2', 'node1', middle, small, { labels: { a: 'b' } }),
    ],
    budgets: [
      { ...budget(0), spec: { selector: { matchExpressions: [{ key: 'app', operator: 'DoesNotExist' }] } } },
    ],
    expected: 'node1: p1, p2 (1 budget)',
  },
  {
    name: 'a pod that a budget protects is put back before a more important one',
    nodes: ['node1'],
    asking: pendingPod('p', high, large),
    pods: [runningPod('p1.1', 'node1', middle, medium), runningPod('p1.2', 'node1', low, medium, foo)],
    budgets: [budget(0)],
    expected: 'node1: p1.1',
  },
  {
    name: 'a node without violated budgets is preferred to one with lower pods',
    asking: pendingPod('p', veryHigh, veryLarge),
    pods: [runningPod('p1', 'node1', low, medium, foo), runningPod('p2', 'node2', high, medium)],
    budgets: [budget(0)],
    expected: 'node2: p2',
  },
];

test.each(byName(cases))('%s', (_, { nodes = ['node1', 'node2'], asking, pods, budgets = [], expected }) => {
  const index = preemptionCluster(nodes, pods);
  const before = dumpIndex(index);
  const read = budgets.map(readDisruptionBudget).filter((entry) => entry !== undefined);
  expect(describePreemption(preempt(index, asking, { budgets: read }))).toBe(expected);
  expect(dumpIndex(index)).toEqual(before);
});

test('a pod that is only assumed on the node can be a victim, and is marked as assumed', () => {
  const index = preemptionCluster(['node1'], [runningPod('bound', 'node1', middle, small)]);
  assume(index, pendingPod('in-flight', low, large), 'node1');
  expect(describePreemption(preempt(index, pendingPod('p', high, large)))).toBe('node1: in-flight (assumed)');
  expect([...index.pods.onNode('node1')].map(({ name }) => name).sort()).toEqual(['bound', 'in-flight']);
});

test('a pod that the cluster reports as bound is not assumed, although its reservation still exists', () => {
  const index = preemptionCluster(['node1'], []);
  assume(index, pendingPod('in-flight', low, large), 'node1');
  const bound = runningPod('in-flight', 'node1', low, large);
  index.upsert('Pod', { ...bound, metadata: { ...bound.metadata, resourceVersion: '2' } });
  expect(describePreemption(preempt(index, pendingPod('p', high, large)))).toBe('node1: in-flight');
});

test.each<[string, PodTraits, PodTraits, string]>([
  [
    'a pod whose preemptionPolicy is Never evicts no pod',
    { neverPreempts: true },
    {},
    'preemption: not eligible due to preemptionPolicy=Never.',
  ],
  [
    'a pod waits until its victims on the nominated node have terminated',
    { nominatedTo: 'node1' },
    { isDeleting: true, isVictim: true },
    'preemption: not eligible due to a terminating pod on the nominated node.',
  ],
  [
    'a pod does not wait for pods that terminate for other reasons',
    { nominatedTo: 'node1' },
    { isDeleting: true },
    'node1: p1',
  ],
  [
    'a pod does not wait for victims that are not being deleted',
    { nominatedTo: 'node1' },
    { isVictim: true },
    'node1: p1',
  ],
  ['a pod that is nominated to a deleted node preempts again', { nominatedTo: 'node9' }, {}, 'node1: p1'],
])('%s', (_, asking, victim, expected) => {
  const index = preemptionCluster(['node1'], [runningPod('p1', 'node1', low, large, victim)]);
  expect(describePreemption(preempt(index, pendingPod('p', high, large, asking)))).toBe(expected);
});

test('a pod does not wait for a node on which preemption cannot help, even if pods terminate there', () => {
  const victim = runningPod('p1', 'node1', low, small, { isDeleting: true, isVictim: true });
  const index = preemptionCluster([tight('node1'), 'node2'], [victim, runningPod('p2', 'node2', low, large)]);
  const asking = pendingPod('p', high, large, { nominatedTo: 'node1' });
  expect(describePreemption(preempt(index, asking))).toBe('node2: p2');
});

test('a nomination is kept only while the pod waits for victims', () => {
  const victim = runningPod('p1', 'node1', low, large, { isDeleting: true, isVictim: true });
  const index = preemptionCluster(['node1'], [victim]);
  const keeps = (priority: number) =>
    preempt(index, pendingPod('p', priority, large, { nominatedTo: 'node1' }));
  expect(keeps(high)).toMatchObject({ kind: 'none', keepsNomination: true });
  expect(keeps(low)).toMatchObject({ kind: 'none', keepsNomination: false });
});

test('without nodes there is no message about preemption', () => {
  expect(describePreemption(preempt(preemptionCluster([], []), pendingPod('p', high, small)))).toBe('');
});

/** Five nodes, each with one possible victim, whose priority is the cost of the node. */
function fiveNodes(labels: Readonly<Record<string, string>>, ...labelled: readonly number[]) {
  const names = [1, 2, 3, 4, 5];
  const pods = names.map((at) =>
    runningPod(`p${at}`, `node${at}`, middle - at, large, labelled.includes(at) ? { labels } : {}),
  );
  return preemptionCluster(
    names.map((at) => `node${at}`),
    pods,
  );
}

test.each<[number, string]>([
  [0, 'node2: p2'],
  [1, 'node3: p3'],
  [3, 'node5: p5'],
  [4, 'node5: p5'],
  [5, 'node2: p2'],
])('the search begins at seed %s, wraps around, and ends with enough candidates', (seed, expected) => {
  const answer = preempt(fiveNodes({}), pendingPod('p', high, large), {
    seed,
    candidateLimits: { percent: 40, min: 2 },
  });
  expect(describePreemption(answer)).toBe(expected);
});

test('the search continues after enough candidates until one violates no budget', () => {
  const budgets = [readDisruptionBudget(budget(0))!];
  const options = { seed: 4, candidateLimits: { percent: 40, min: 2 }, budgets };
  const answer = preempt(fiveNodes({ app: 'foo' }, 1, 2, 5), pendingPod('p', high, large), options);
  expect(describePreemption(answer)).toBe('node3: p3');
});
