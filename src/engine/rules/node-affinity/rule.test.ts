import { describe, expect, test } from 'vitest';
import type { NodeSelectorTerm, Pod, PreferredSchedulingTerm } from '../../../kube/api/core.ts';
import { clusterOf } from '../../testing/cluster.ts';
import { byName, node } from '../../testing/objects.ts';
import {
  expectRuleRefusal,
  nodeWithFields,
  podWithSpec,
  ruleVerdict,
} from '../../testing/rule-checks/rule-cases.ts';
import { evaluateRule } from '../../testing/rule-checks/rule-result.ts';
import { plan } from '../../testing/whole-engine.ts';
import { eraseState } from '../framework/rule.ts';
import { nodeUnschedulableRule } from '../node-unschedulable/rule.ts';
import { nodeAffinityRule } from './rule.ts';

const rule = eraseState(nodeAffinityRule);
const mismatch = "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.";
const leftOut = "0/1 nodes are available: 1 node(s) didn't satisfy plugin(s) [NodeAffinity].";
const conflict = '0/1 nodes are available: pod affinity terms conflict.';

function requiring(...nodeSelectorTerms: NodeSelectorTerm[]): Pod['spec'] {
  return {
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
  };
}

function named(...names: string[]): NodeSelectorTerm {
  return {
    matchFields: names.map((name) => ({ key: 'metadata.name', operator: 'In', values: [name] })),
  };
}

interface Case {
  readonly name: string;
  readonly labels?: Record<string, string>;
  readonly spec: Pod['spec'];
  readonly says: string;
}

function expectCases(cases: readonly Case[]): void {
  test.each(byName(cases))('%s', (_, { labels = {}, spec, says }) => {
    expect(ruleVerdict(rule, clusterOf({ Node: [node('n1', labels)] }), podWithSpec(spec))).toBe(says);
  });
}

describe('a node selector', () => {
  expectCases([
    { name: 'that is empty matches every node', spec: { nodeSelector: {} }, says: 'fits' },
    {
      name: 'requires its labels',
      labels: { a: 'b', c: 'd' },
      spec: { nodeSelector: { a: 'b' } },
      says: 'fits',
    },
    {
      name: 'requires all of its labels',
      labels: { a: 'b' },
      spec: { nodeSelector: { a: 'b', c: 'd' } },
      says: mismatch,
    },
    { name: 'requires the value', labels: { a: 'c' }, spec: { nodeSelector: { a: 'b' } }, says: mismatch },
    {
      name: 'matches even invalid labels if they are equal',
      labels: { 'a b': '-' },
      spec: { nodeSelector: { 'a b': '-' } },
      says: 'fits',
    },
    {
      name: 'with a value that is not a string matches nothing',
      labels: { a: 'b' },
      spec: { nodeSelector: { a: 5 } } as unknown as Pod['spec'],
      says: mismatch,
    },
    {
      name: 'does not match properties of JavaScript objects',
      spec: { nodeSelector: { constructor: 'x' } },
      says: mismatch,
    },
  ]);
});

describe('required affinity', () => {
  const inB = { key: 'a', operator: 'In' as const, values: ['b'] };
  expectCases([
    {
      name: 'matches a label',
      labels: { a: 'b' },
      spec: requiring({ matchExpressions: [inB] }),
      says: 'fits',
    },
    {
      name: 'without terms matches nothing',
      labels: { a: 'b' },
      spec: requiring(),
      says: mismatch,
    },
    { name: 'with an empty term matches nothing', spec: requiring({}), says: mismatch },
    {
      name: 'matches by any of its terms',
      labels: { a: 'b' },
      spec: requiring({ matchExpressions: [{ key: 'x', operator: 'Exists' }] }, { matchExpressions: [inB] }),
      says: 'fits',
    },
    {
      name: 'and a node selector must both match',
      labels: { a: 'b' },
      spec: { ...requiring({ matchExpressions: [inB] }), nodeSelector: { c: 'd' } },
      says: mismatch,
    },
    {
      name: 'and a node selector both match',
      labels: { a: 'b', c: 'd' },
      spec: { ...requiring({ matchExpressions: [inB] }), nodeSelector: { c: 'd' } },
      says: 'fits',
    },
    {
      name: 'with an unknown operator ignores that term',
      labels: { a: 'b' },
      spec: requiring(
        { matchExpressions: [{ ...inB, operator: 'Like' as 'In' }] },
        { matchExpressions: [inB] },
      ),
      says: 'fits',
    },
    {
      name: 'of Gt compares numbers',
      labels: { a: '10' },
      spec: requiring({ matchExpressions: [{ key: 'a', operator: 'Gt', values: ['9'] }] }),
      says: 'fits',
    },
    {
      name: 'that is malformed matches nothing',
      spec: requiring(5 as never, null as never, { matchExpressions: 'x' as never }),
      says: mismatch,
    },
  ]);
});

describe('a pod that names nodes', () => {
  expectCases([
    { name: 'goes to its node', spec: requiring(named('n1')), says: 'fits' },
    { name: 'excludes every other', spec: requiring(named('n2')), says: leftOut },
    { name: 'may name several, a term each', spec: requiring(named('n2'), named('n1')), says: 'fits' },
    {
      name: 'and labels is refused there with the usual text',
      spec: requiring({ ...named('n1'), matchExpressions: [{ key: 'a', operator: 'Exists' }] }),
      says: mismatch,
    },
    { name: 'may contradict itself', spec: requiring(named('n1', 'n2')), says: conflict },
    {
      name: 'may contradict itself in one term of two',
      spec: requiring(named('n1', 'n2'), named('n1')),
      says: 'fits',
    },
    {
      name: 'in one term of two excludes no node',
      spec: requiring(named('n2'), { matchExpressions: [{ key: 'a', operator: 'Exists' }] }),
      says: mismatch,
    },
    {
      name: 'by exclusion excludes no other node',
      spec: requiring({ matchFields: [{ key: 'metadata.name', operator: 'NotIn', values: ['n1'] }] }),
      says: mismatch,
    },
    {
      name: 'two at once in one condition matches no node, and excludes the rest',
      spec: requiring({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n2', 'n3'] }] }),
      says: leftOut,
    },
    {
      name: 'two at once in one condition matches neither',
      spec: requiring({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1', 'n3'] }] }),
      says: mismatch,
    },
  ]);

  test('gets counts of excluded nodes and of nodes that do not match', () => {
    const asking = podWithSpec(
      requiring({ ...named('n1'), matchExpressions: [{ key: 'a', operator: 'Exists' }] }),
    );
    const refusal = expectRuleRefusal(
      rule,
      clusterOf({ Node: [node('n1'), node('n2'), node('n3')] }),
      asking,
    );
    expect(refusal.message).toBe(
      "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, " +
        "2 node(s) didn't satisfy plugin(s) [NodeAffinity].",
    );
    expect([...refusal.nodesWherePreemptionMayHelp()]).toEqual([]);
    expect(refusal.explain().nodes.map(({ findings }) => findings[0]!.reason)).toEqual([
      'NodeAffinityMismatch',
      'LeftOutByName',
      'LeftOutByName',
    ]);
  });

  test('excludes the others before any other rule filters', () => {
    const index = clusterOf({ Node: [nodeWithFields('n1', { spec: { unschedulable: true } }), node('n2')] });
    const rules = [eraseState(nodeUnschedulableRule), rule];
    const refusal = plan(podWithSpec(requiring(named('n3'))), index, { nowMs: 0, rules });
    expect(refusal).toMatchObject({
      message: "0/2 nodes are available: 2 node(s) didn't satisfy plugin(s) [NodeAffinity].",
    });
  });
});

describe('preferred affinity', () => {
  function preferring(...terms: (readonly [number, string, string])[]): Pod['spec'] {
    const preferred = terms.map(
      ([weight, key, value]): PreferredSchedulingTerm => ({
        weight,
        preference: { matchExpressions: [{ key, operator: 'In', values: [value] }] },
      }),
    );
    return { affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } } };
  }
  const index = clusterOf({
    Node: [node('n1', { a: 'x' }), node('n2', { a: 'x', b: 'y' }), node('n3'), node('n4', { c: 'z' })],
  });
  function scoresOf(spec: Pod['spec']): unknown {
    return evaluateRule(rule, index, podWithSpec(spec)).scores;
  }

  test('adds up weights and gives the best node 100', () => {
    expect(scoresOf(preferring([2, 'a', 'x'], [4, 'b', 'y']))).toEqual({ n1: 33, n2: 100, n3: 0, n4: 0 });
  });

  test('that no node matches scores 0 everywhere', () => {
    expect(scoresOf(preferring([2, 'a', 'nowhere']))).toEqual({ n1: 0, n2: 0, n3: 0, n4: 0 });
  });

  test('is scaled by the nodes that fit', () => {
    const spec = { ...preferring([2, 'a', 'x'], [4, 'b', 'y'], [1, 'c', 'z']), nodeSelector: { c: 'z' } };
    expect(scoresOf(spec)).toEqual({ n4: 100 });
  });

  test('ignores malformed terms', () => {
    const spec = {
      affinity: {
        nodeAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 5, preference: { matchExpressions: [{ key: 'a', operator: 'Like' }] } },
            { weight: 0, preference: { matchExpressions: [{ key: 'b', operator: 'Exists' }] } },
            { weight: 5, preference: {} },
            { weight: 5 },
            7,
            { weight: 3, preference: { matchExpressions: [{ key: 'c', operator: 'Exists' }] } },
          ],
        },
      },
    } as unknown as Pod['spec'];
    expect(scoresOf(spec)).toEqual({ n1: 0, n2: 0, n3: 0, n4: 100 });
  });
});
