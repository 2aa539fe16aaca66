import { describe, expect, test } from 'vitest';
import type { Node, Taint, Toleration } from '../../../kube/api/core.ts';
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
import { evaluateRule } from '../../testing/rule-checks/rule-result.ts';
import { eraseState } from '../framework/rule.ts';
import { taintTolerationRule } from './rule.ts';

const rule = eraseState(taintTolerationRule);
const refused = '0/1 nodes are available: 1 node(s) had untolerated taint(s).';

function tainted(name: string, ...taints: Taint[]): Node {
  return nodeWithFields(name, { spec: { taints } });
}

const dedicated: Taint = { key: 'dedicated', value: 'user1', effect: 'NoSchedule' };
const evicting: Taint = { key: 'foo', value: 'bar', effect: 'NoExecute' };
const soft: Taint = { key: 'foo', value: 'bar', effect: 'PreferNoSchedule' };

interface Case {
  readonly name: string;
  readonly taints: readonly Taint[];
  readonly tolerations: readonly Toleration[];
  readonly says: string;
}

describe('a pod', () => {
  const cases: readonly Case[] = [
    { name: 'is refused by a taint', taints: [dedicated], tolerations: [], says: refused },
    { name: 'is refused by NoExecute too', taints: [evicting], tolerations: [], says: refused },
    { name: 'is not refused by PreferNoSchedule', taints: [soft], tolerations: [], says: 'fits' },
    {
      name: 'fits if it tolerates the taint by value',
      taints: [dedicated],
      tolerations: [{ key: 'dedicated', value: 'user1', effect: 'NoSchedule' }],
      says: 'fits',
    },
    {
      name: 'is refused by another value',
      taints: [dedicated],
      tolerations: [{ key: 'dedicated', operator: 'Equal', value: 'user2', effect: 'NoSchedule' }],
      says: refused,
    },
    {
      name: 'fits if it tolerates the key',
      taints: [evicting],
      tolerations: [{ key: 'foo', operator: 'Exists', effect: 'NoExecute' }],
      says: 'fits',
    },
    {
      name: 'must tolerate all of them',
      taints: [dedicated, evicting],
      tolerations: [{ key: 'dedicated', operator: 'Exists' }],
      says: refused,
    },
    {
      name: 'is refused if it tolerates another effect',
      taints: [evicting],
      tolerations: [{ key: 'foo', value: 'bar', effect: 'NoSchedule' }],
      says: refused,
    },
    {
      name: 'is refused if it compares numbers, a feature that is off by default',
      taints: [{ key: 'n', value: '1', effect: 'NoSchedule' }],
      tolerations: [{ key: 'n', operator: 'Gt', value: '0' }],
      says: refused,
    },
  ];
  test.each(byName(cases))('%s', (_, { taints, tolerations, says }) => {
    const index = clusterOf({ Node: [tainted('n1', ...taints)] });
    expect(ruleVerdict(rule, index, podWithSpec({ tolerations }))).toBe(says);
  });

  test('gets an explanation of taints that an earlier rule would hide, and preemption does not help', () => {
    const refusal = expectRuleRefusal(rule, clusterOf({ Node: [tainted('n1', dedicated)] }), podWithSpec({}));
    expect(refusal.explain().nodes[0]!.findings).toMatchObject([{ reason: 'TaintNotTolerated' }]);
    expect([...refusal.nodesWherePreemptionMayHelp()]).toEqual([]);
  });

  test('ignores malformed taints', () => {
    const junk = [5, 'x', { key: 7, effect: {} }, null] as unknown as Taint[];
    const index = clusterOf({ Node: [tainted('n1', ...junk)] });
    expect(ruleVerdict(rule, index, podWithSpec({ tolerations: ['x'] as unknown as Toleration[] }))).toBe(
      'fits',
    );
  });
});

describe('the fewer soft taints, the better', () => {
  const softly = (key: string): Taint => ({ key, effect: 'PreferNoSchedule' });
  function scoresOf(nodes: readonly Node[], tolerations: readonly Toleration[]): unknown {
    return evaluateRule(rule, clusterOf({ Node: nodes }), podWithSpec({ tolerations })).scores;
  }

  test('a node without them scores 100, the node with the most 0', () => {
    const nodes = [
      tainted('n1', softly('a'), softly('b'), softly('c')),
      tainted('n2', softly('a')),
      node('n3'),
    ];
    expect(scoresOf(nodes, [])).toEqual({ n1: 0, n2: 67, n3: 100 });
    expect(scoresOf(nodes, [{ key: 'a', operator: 'Exists' }])).toEqual({ n1: 0, n2: 100, n3: 100 });
  });

  test('all nodes score 100 if all taints are tolerated', () => {
    expect(scoresOf([tainted('n1', softly('a')), node('n2')], [{ operator: 'Exists' }])).toEqual({
      n1: 100,
      n2: 100,
    });
  });

  test('refused nodes do not affect the scale', () => {
    const nodes = [
      tainted('n1', softly('a'), softly('b'), dedicated),
      tainted('n2', softly('a')),
      node('n3'),
    ];
    expect(scoresOf(nodes, [])).toEqual({ n2: 0, n3: 100 });
  });
});

describe('a pod that was refused', () => {
  const waiting = { cluster: { Node: [tainted('n1', dedicated)] }, pod: podWithSpec({}) };
  expectRuleWakeCases(rule, [
    {
      ...waiting,
      name: 'is woken when the taint is removed',
      event: upserted('Node', atVersion('2', tainted('n1', soft))),
      wakes: true,
    },
    {
      ...waiting,
      name: 'is not woken when it is replaced by another',
      event: upserted('Node', atVersion('2', tainted('n1', evicting))),
      wakes: false,
    },
    {
      ...waiting,
      name: 'is woken by a node without a taint',
      event: upserted('Node', node('n2')),
      wakes: true,
    },
    {
      ...waiting,
      name: 'is not woken by a node with a taint',
      event: upserted('Node', tainted('n2', evicting)),
      wakes: false,
    },
  ]);
});

test('it agrees with a simple reference implementation', () => {
  expectSameAsOracle(rule, (model, asking) => {
    const tolerates = (taint: Taint) =>
      (asking.spec?.tolerations ?? []).some(
        ({ key = '', operator = 'Equal', value = '', effect = '' }) =>
          (key === '' || key === taint.key) &&
          (effect === '' || effect === taint.effect) &&
          (operator === 'Exists' || (operator === 'Equal' && value === (taint.value ?? ''))),
      );
    const untolerated = model.nodes().map(({ metadata, spec }) => ({
      name: metadata!.name!,
      taints: (spec?.taints ?? []).filter((taint) => !tolerates(taint)),
    }));
    const isSoft = ({ effect }: Taint) => effect === 'PreferNoSchedule';
    const fitting = untolerated.filter(({ taints }) => taints.every(isSoft));
    const most = Math.max(...fitting.map(({ taints }) => taints.length), 1);
    const hasTaints = model.nodes().some(({ spec }) => (spec?.taints ?? []).length > 0);
    return {
      refusals: [],
      refused: Object.fromEntries(
        untolerated
          .filter(({ taints }) => !taints.every(isSoft))
          .map(({ name }) => [name, ['TaintNotTolerated']]),
      ),
      scores: Object.fromEntries(
        hasTaints
          ? fitting.map(({ name, taints }) => [name, 100 - Math.floor((100 * taints.length) / most)])
          : [],
      ),
    };
  });
});
