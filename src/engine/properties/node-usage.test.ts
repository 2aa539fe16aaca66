import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Pod } from '../../kube/api/core.ts';
import { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { plan } from '../plan.ts';
import { readPod } from '../records/pod-record.ts';
import { balancedAllocationRule } from '../rules/balanced-allocation/rule.ts';
import { type AnyRule, eraseState } from '../rules/framework/rule.ts';
import { nodePortsRule } from '../rules/node-ports/rule.ts';
import { nodeResourcesRule } from '../rules/node-resources/rule.ts';
import {
  applyNodeUsageEvent,
  arbNodeUsageEvent,
  arbPendingPod,
  assignedPod,
  expectedReasons,
  type NodeUsageEvent,
  podRequesting,
  usageNodes,
} from '../testing/node-usage.ts';
import { interestOf } from '../waking/interest.ts';

const rules = [eraseState(nodePortsRule), eraseState(nodeResourcesRule), eraseState(balancedAllocationRule)];
const arbHistory = fc.array(arbNodeUsageEvent, { maxLength: 25, size: 'max' });
const runs = 300;

/** Nodes that the pods of a history fill, so that pods have to wait. */
const fullNodes = usageNodes.map((name): NodeUsageEvent => {
  const allocatable = {
    cpu: '2',
    memory: '4Gi',
    pods: '3',
    'ephemeral-storage': '1Gi',
    'example.com/gpu': '2',
  };
  return { type: 'node', name, allocatable };
});
const waiting = [
  podRequesting('waiting', {}, [{ hostPort: 80, protocol: 'TCP', hostIP: '10.0.0.1' }]),
  podRequesting('waiting', { cpu: '1' }, [{ hostPort: 81, protocol: 'UDP' }]),
  podRequesting('waiting', { memory: '2Gi', 'example.com/gpu': '1' }),
];

function answerOf(index: ClusterIndex, pod: Pod, onlyNodes?: readonly string[]) {
  return plan(pod, index, { nowMs: 0, rules, onlyNodes });
}

function indexAfter(history: readonly NodeUsageEvent[]): ClusterIndex {
  const index = new ClusterIndex();
  for (const event of history) applyNodeUsageEvent(index, event);
  return index;
}

/** The reasons in the refusal message by node. */
function reasonsByNode(index: ClusterIndex, pod: Pod): Record<string, readonly string[]> {
  const nodes = usageNodes.filter((name) => index.nodes.get(name) !== undefined);
  return Object.fromEntries(nodes.map((name) => [name, reasonsAt(index, pod, name)]));
}

function reasonsAt(index: ClusterIndex, pod: Pod, name: string): readonly string[] {
  const answer = answerOf(index, pod, [name]);
  if (answer.kind === 'placement') return [];
  const [, detail = ''] = /available: (.*)\.$/.exec(answer.message) ?? [];
  return detail.split(', ').map((part) => part.replace(/^1 /, ''));
}

function expectedByNode(index: ClusterIndex, pod: Pod): Record<string, readonly string[]> {
  const nodes = usageNodes.filter((name) => index.nodes.get(name) !== undefined);
  return Object.fromEntries(nodes.map((name) => [name, expectedReasons(index, pod, name)]));
}

test('after any history, the reasons of refused nodes equal those of counting pod by pod', () => {
  fc.assert(
    fc.property(arbHistory, arbPendingPod, (history, pod) => {
      const index = indexAfter(history);
      expect(reasonsByNode(index, pod)).toEqual(expectedByNode(index, pod));
    }),
    { numRuns: runs },
  );
});

test('a history that is rolled back leaves the same answers and scores', () => {
  fc.assert(
    fc.property(arbHistory, arbHistory, arbPendingPod, (history, tried, pod) => {
      const index = indexAfter(history);
      const before = summary(index, pod);
      const savepoint = index.savepoint();
      for (const event of tried) applyNodeUsageEvent(index, event);
      index.rollback(savepoint);
      expect(summary(index, pod)).toEqual(before);
      expect(reasonsByNode(index, pod)).toEqual(expectedByNode(index, pod));
    }),
    { numRuns: runs },
  );
});

test.each([['NodePorts'], ['NodeResourcesFit']])(
  '%s: an event that makes a pod fit wakes the pod',
  (which) => {
    const [rule] = rules.filter(({ name }) => name === which) as [AnyRule];
    // Node by node, so that a node that always fits doesn't hide the others.
    const asked = usageNodes.flatMap((name) => waiting.map((pod) => ({ pod, onlyNodes: [name] })));
    fc.assert(
      fc.property(arbHistory, (history) => {
        const index = indexAfter(fullNodes);
        const answers = () =>
          asked.map(({ pod, onlyNodes }) => plan(pod, index, { nowMs: 0, rules: [rule], onlyNodes }).kind);
        for (const event of history) {
          const before = answers();
          const interests = asked.map(({ pod }) => interestOf(index, readPod(pod)));
          const change = applyNodeUsageEvent(index, event);
          for (const [at, after] of answers().entries()) {
            if (before[at] === 'placement' || after === 'refusal') continue;
            expect(change !== undefined && rule.wakes(interests[at]!, change, index)).toBe(true);
          }
        }
      }),
      { numRuns: runs / 2 },
    );
  },
);

test('a change that changes the answer invalidates it', () => {
  fc.assert(
    fc.property(arbHistory, arbPendingPod, (history, pod) => {
      const index = new ClusterIndex();
      for (const event of history) {
        const before = summary(index, pod);
        const interest = interestOf(index, readPod(pod));
        const change = applyNodeUsageEvent(index, event);
        if (change === undefined || isDeepStrictEqual(summary(index, pod), before)) continue;
        expect(rules.some((rule) => rule.invalidates(interest, change, index))).toBe(true);
      }
    }),
    { numRuns: runs / 2 },
  );
});

test('sums beyond the precision of a double return to their exact value', () => {
  const index = indexAfter([{ type: 'node', name: 'n1', allocatable: { pods: '9', memory: '1Gi' } }]);
  const memory = ['3', '9007199254740993', '9007199254740995', '1'];
  const pods = memory.map((size, position) => assignedPod(`p${position}`, 'n1', { memory: size }));
  for (const pod of pods) applyNodeUsageEvent(index, { type: 'pod', pod });
  for (const name of ['p1', 'p2']) applyNodeUsageEvent(index, { type: 'pod deleted', name });
  expect(index.usage.memory.used[index.nodes.row('n1')!]).toBe(4);
});

function summary(index: ClusterIndex, pod: Pod): unknown {
  const answer = answerOf(index, pod);
  return answer.kind === 'placement'
    ? { node: answer.node, score: answer.score }
    : { message: answer.message, inTheWay: [...answer.nodesWherePreemptionMayHelp()].sort() };
}
