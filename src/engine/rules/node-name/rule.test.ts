import { describe, expect, test } from 'vitest';
import { clusterOf } from '../../testing/cluster.ts';
import { upserted } from '../../testing/index-events.ts';
import { atVersion, byName, node, pod } from '../../testing/objects.ts';
import { expectSameAsOracle } from '../../testing/rule-checks/expect-same-as-oracle.ts';
import { expectRuleRefusal, expectRuleWakeCases, ruleVerdict } from '../../testing/rule-checks/rule-cases.ts';
import { eraseState } from '../framework/rule.ts';
import { nodeNameRule } from './rule.ts';

const rule = eraseState(nodeNameRule);
const cluster = { Node: [node('n1'), node('n2')] };
const elsewhere = "0/2 nodes are available: 2 node(s) didn't match the requested node name.";

describe('a pod', () => {
  const cases = [
    { name: 'without a node name fits any node', nodeName: '', says: 'fits' },
    { name: 'fits the node that it names', nodeName: 'n2', says: 'fits' },
    { name: 'fits no node if its node does not exist', nodeName: 'n3', says: elsewhere },
  ];
  test.each(byName(cases))('%s', (_, { nodeName: name, says }) => {
    expect(ruleVerdict(rule, clusterOf(cluster), pod('p', [], { nodeName: name }))).toBe(says);
  });

  test('gets a message that counts every other node', () => {
    const refusal = expectRuleRefusal(rule, clusterOf(cluster), pod('p', [], { nodeName: 'n3' }));
    expect(refusal.explain().nodes.flatMap(({ findings }) => findings)).toMatchObject([
      { reason: 'OtherNodeRequested' },
      { reason: 'OtherNodeRequested' },
    ]);
  });
});

describe('a pod that was refused', () => {
  const waiting = { cluster, pod: pod('p', [], { nodeName: 'n3' }) };
  expectRuleWakeCases(rule, [
    { ...waiting, name: 'is woken when its node comes', event: upserted('Node', node('n3')), wakes: true },
    { ...waiting, name: 'is not woken by another', event: upserted('Node', node('n4')), wakes: false },
    {
      ...waiting,
      name: 'is not woken when another changes',
      event: upserted('Node', atVersion('2', node('n1', { a: 'b' }))),
      wakes: false,
    },
  ]);
});

test('it agrees with a simple reference implementation', () => {
  expectSameAsOracle(rule, (model, asking) => {
    const wanted = asking.spec?.nodeName ?? '';
    const others = model.nodes().filter(({ metadata }) => wanted !== '' && metadata!.name !== wanted);
    return {
      refusals: [],
      refused: Object.fromEntries(others.map(({ metadata }) => [metadata!.name!, ['OtherNodeRequested']])),
      scores: {},
    };
  });
});
