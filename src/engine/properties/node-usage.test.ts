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
  pendingPod,
  usageNodes,
} from '../testing/node-usage.ts';
import { interestOf } from '../waking/interest.ts';

const rules = [eraseState(nodePortsRule), eraseState(nodeResourcesRule), eraseState(balancedAllocationRule)];
const arbHistory = fc.array(arbNodeUsageEvent, { maxLength: 25, size: 'max' });
const runs = 300;

/** For waiting: nodes that are full of something now and then. */
const furnished = usageNodes.map((name): NodeUsageEvent => {
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
  pendingPod('waiting', {}, [{ hostPort: 80, protocol: 'TCP', hostIP: '10.0.0.1' }]),
  pendingPod('waiting', { cpu: '1' }, [{ hostPort: 81, protocol: 'UDP' }]),
  pendingPod('waiting', { memory: '2Gi', 'example.com/gpu': '1' }),
];

function answerOf(index: ClusterIndex, asking: Pod, onlyNodes?: readonly string[]) {
  return plan(asking, index, { nowMs: 0, rules, onlyNodes });
}

function lived(history: readonly NodeUsageEvent[]): ClusterIndex {
  const index = new ClusterIndex();
  for (const event of history) applyNodeUsageEvent(index, event);
  return index;
}

/** By node, what stands in the way, as the message says it. */
function complaints(index: ClusterIndex, asking: Pod): Record<string, readonly string[]> {
  const nodes = usageNodes.filter((name) => index.nodes.get(name) !== undefined);
  return Object.fromEntries(nodes.map((name) => [name, complaintsAt(index, asking, name)]));
}

function complaintsAt(index: ClusterIndex, asking: Pod, name: string): readonly string[] {
  const answer = answerOf(index, asking, [name]);
  if (answer.kind === 'placement') return [];
  const [, detail = ''] = /available: (.*)\.$/.exec(answer.message) ?? [];
  return detail.split(', ').map((part) => part.replace(/^1 /, ''));
}

function oracle(index: ClusterIndex, asking: Pod): Record<string, readonly string[]> {
  const nodes = usageNodes.filter((name) => index.nodes.get(name) !== undefined);
  return Object.fromEntries(nodes.map((name) => [name, expectedReasons(index, asking, name)]));
}

test('what stands in the way is what counting pod by pod finds, whatever has happened', () => {
  fc.assert(
    fc.property(arbHistory, arbPendingPod, (history, asking) => {
      const index = lived(history);
      expect(complaints(index, asking)).toEqual(oracle(index, asking));
    }),
    { numRuns: runs },
  );
});

test('a history that is taken back leaves the same answers and scores', () => {
  fc.assert(
    fc.property(arbHistory, arbHistory, arbPendingPod, (history, supposed, asking) => {
      const index = lived(history);
      const before = summary(index, asking);
      const savepoint = index.savepoint();
      for (const event of supposed) applyNodeUsageEvent(index, event);
      index.rollback(savepoint);
      expect(summary(index, asking)).toEqual(before);
      expect(complaints(index, asking)).toEqual(oracle(index, asking));
    }),
    { numRuns: runs },
  );
});

test.each([['NodePorts'], ['NodeResourcesFit']])(
  'by %s: a pod that fits after an event has been woken by it',
  (which) => {
    const [rule] = rules.filter(({ name }) => name === which) as [AnyRule];
    // Node by node, so that one that fits all along doesn't hide the others.
    const asked = usageNodes.flatMap((name) => waiting.map((pod) => ({ pod, onlyNodes: [name] })));
    fc.assert(
      fc.property(arbHistory, (history) => {
        const index = lived(furnished);
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

test('an answer that has become another one has been invalidated', () => {
  fc.assert(
    fc.property(arbHistory, arbPendingPod, (history, asking) => {
      const index = new ClusterIndex();
      for (const event of history) {
        const before = summary(index, asking);
        const interest = interestOf(index, readPod(asking));
        const change = applyNodeUsageEvent(index, event);
        if (change === undefined || isDeepStrictEqual(summary(index, asking), before)) continue;
        expect(rules.some((rule) => rule.invalidates(interest, change, index))).toBe(true);
      }
    }),
    { numRuns: runs / 2 },
  );
});

test('sums that no double can hold come back to where they were', () => {
  const index = lived([{ type: 'node', name: 'n1', allocatable: { pods: '9', memory: '1Gi' } }]);
  const memory = ['3', '9007199254740993', '9007199254740995', '1'];
  const pods = memory.map((size, position) => assignedPod(`p${position}`, 'n1', { memory: size }));
  for (const pod of pods) applyNodeUsageEvent(index, { type: 'pod', pod });
  for (const name of ['p1', 'p2']) applyNodeUsageEvent(index, { type: 'pod gone', name });
  expect(index.usage.memory.used[index.nodes.row('n1')!]).toBe(4);
});

function summary(index: ClusterIndex, asking: Pod): unknown {
  const answer = answerOf(index, asking);
  return answer.kind === 'placement'
    ? { node: answer.node, score: answer.score }
    : { message: answer.message, inTheWay: [...answer.nodesWherePreemptionMayHelp()].sort() };
}
