import { describe, expect, test } from 'vitest';
import type { Toleration } from '../../../kube/api/core.ts';
import { clusterOf } from '../../testing/cluster.ts';
import { upserted } from '../../testing/index-events.ts';
import { atVersion, byName, node } from '../../testing/objects.ts';
import { expectSameAsOracle } from '../../testing/rule-checks/expect-same-as-oracle.ts';
import {
  expectRuleRefusal,
  expectRuleWakeCases,
  nodeWithFields,
  podWithSpec,
  ruleVerdict,
} from '../../testing/rule-checks/rule-cases.ts';
import { eraseState } from '../framework/rule.ts';
import { nodeUnschedulableRule } from './rule.ts';

const rule = eraseState(nodeUnschedulableRule);
const cordoned = nodeWithFields('n1', { spec: { unschedulable: true } });
const key = 'node.kubernetes.io/unschedulable';
const refused = '0/1 nodes are available: 1 node(s) were unschedulable.';

interface Case {
  readonly name: string;
  readonly tolerations: readonly Toleration[];
  readonly says: string;
}

describe('a node that is marked as unschedulable', () => {
  const cases: readonly Case[] = [
    { name: 'accepts no pod', tolerations: [], says: refused },
    {
      name: 'accepts a pod that tolerates the taint',
      tolerations: [{ key, operator: 'Exists' }],
      says: 'fits',
    },
    { name: 'accepts a pod that tolerates everything', tolerations: [{ operator: 'Exists' }], says: 'fits' },
    {
      name: 'accepts a pod that tolerates it without a value',
      tolerations: [{ key, effect: 'NoSchedule' }],
      says: 'fits',
    },
    { name: 'needs a toleration without a value', tolerations: [{ key, value: 'true' }], says: refused },
    {
      name: 'needs a toleration of NoSchedule',
      tolerations: [{ key, operator: 'Exists', effect: 'NoExecute' }],
      says: refused,
    },
  ];
  test.each(byName(cases))('%s', (_, { tolerations, says }) => {
    expect(ruleVerdict(rule, clusterOf({ Node: [cordoned] }), podWithSpec({ tolerations }))).toBe(says);
  });

  test('is not a node on which evicting pods helps', () => {
    const refusal = expectRuleRefusal(rule, clusterOf({ Node: [cordoned] }), podWithSpec({}));
    expect([...refusal.nodesWherePreemptionMayHelp()]).toEqual([]);
    expect(refusal.explain().nodes[0]!.findings).toMatchObject([{ reason: 'MarkedUnschedulable' }]);
  });
});

describe('a pod that was refused', () => {
  const waiting = { cluster: { Node: [cordoned] }, pod: podWithSpec({}) };
  expectRuleWakeCases(rule, [
    {
      ...waiting,
      name: 'is woken when the node is uncordoned',
      event: upserted('Node', atVersion('2', node('n1'))),
      wakes: true,
    },
    {
      ...waiting,
      name: 'is not woken when only labels change',
      event: upserted('Node', atVersion('2', { ...cordoned, metadata: { name: 'n1', labels: { a: 'b' } } })),
      wakes: false,
    },
    { ...waiting, name: 'is woken by a new node', event: upserted('Node', node('n2')), wakes: true },
    {
      ...waiting,
      name: 'is not woken by a new node that is cordoned too',
      event: upserted('Node', nodeWithFields('n2', { spec: { unschedulable: true } })),
      wakes: false,
    },
  ]);
});

test('it agrees with a simple reference implementation', () => {
  expectSameAsOracle(rule, (model, asking) => {
    const tolerates = (asking.spec?.tolerations ?? []).some(
      (toleration) =>
        ['', key].includes(toleration.key ?? '') &&
        ['', 'NoSchedule'].includes(toleration.effect ?? '') &&
        (toleration.operator === 'Exists' ||
          ((toleration.operator ?? 'Equal') === 'Equal' && (toleration.value ?? '') === '')),
    );
    const nodes = model.nodes().filter(({ spec }) => spec?.unschedulable === true && !tolerates);
    return {
      refusals: [],
      refused: Object.fromEntries(nodes.map(({ metadata }) => [metadata!.name!, ['MarkedUnschedulable']])),
      scores: {},
    };
  });
});
