import { describe, expect, test } from 'vitest';
import type { NodeSelectorTerm } from '../../../kube/api/core.ts';
import { boundVolume, dataClaimOf, placedOn } from '../../testing/bound-claim.ts';
import { type ClusterObjects, clusterOf, type PlanOutcome, planOutcome } from '../../testing/cluster.ts';
import { byName, labelIn, node, pod, volume } from '../../testing/objects.ts';
import { expectOutcomes } from '../../testing/profile-cases.ts';

const refused: PlanOutcome = {
  message: "0/1 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity.",
};

describe('a bound volume is reached from a node', () => {
  const here = { zone: 'a', rack: 'r1', slot: '7' };
  const inZone = (value: string): NodeSelectorTerm => labelIn('zone', value);

  interface AffinityCase {
    readonly name: string;
    readonly terms: readonly NodeSelectorTerm[] | undefined;
    readonly reaches: boolean;
  }

  const affinities: readonly AffinityCase[] = [
    { name: 'if it has no affinity', terms: undefined, reaches: true },
    { name: 'not if its affinity has no terms', terms: [], reaches: false },
    { name: 'not if its only term is empty', terms: [{}], reaches: false },
    {
      name: 'not if its terms have only empty lists',
      terms: [{ matchExpressions: [] }, { matchFields: [] }],
      reaches: false,
    },
    { name: 'if one of several terms matches', terms: [inZone('b'), inZone('a')], reaches: true },
    { name: 'not if none of several terms matches', terms: [inZone('b'), inZone('c')], reaches: false },
    {
      name: 'if all expressions of a term match',
      terms: [allOf(inZone('a'), labelIn('rack', 'r1'))],
      reaches: true,
    },
    {
      name: 'not if one expression has another value',
      terms: [allOf(inZone('a'), labelIn('rack', 'r2'))],
      reaches: false,
    },
    {
      name: 'not if one expression asks for a key that the node lacks',
      terms: [allOf(inZone('a'), labelIn('row', 'r1'))],
      reaches: false,
    },
    {
      name: 'if one term matches and another is malformed',
      terms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: [] }] }, inZone('a')],
      reaches: true,
    },
    {
      name: 'not if its only term is malformed',
      terms: [{ matchExpressions: [{ key: 'zone', operator: 'Near' as 'In', values: ['a'] }] }],
      reaches: false,
    },
    {
      name: 'if NotIn names a key that the node lacks',
      terms: [{ matchExpressions: [{ key: 'row', operator: 'NotIn', values: ['x'] }] }],
      reaches: true,
    },
    {
      name: 'if Exists finds the key',
      terms: [{ matchExpressions: [{ key: 'rack', operator: 'Exists' }] }],
      reaches: true,
    },
    {
      name: 'not if DoesNotExist finds the key',
      terms: [{ matchExpressions: [{ key: 'rack', operator: 'DoesNotExist' }] }],
      reaches: false,
    },
    {
      name: 'if Gt holds as a number',
      terms: [{ matchExpressions: [{ key: 'slot', operator: 'Gt', values: ['6'] }] }],
      reaches: true,
    },
    {
      name: 'if Lt holds as a number, though not as text',
      terms: [{ matchExpressions: [{ key: 'slot', operator: 'Lt', values: ['10'] }] }],
      reaches: true,
    },
    {
      name: 'not if Gt compares a label that is not a number',
      terms: [{ matchExpressions: [{ key: 'rack', operator: 'Gt', values: ['0'] }] }],
      reaches: false,
    },
  ];

  test.each(byName(affinities))('%s', (_, { terms, reaches }) => {
    const objects: ClusterObjects = {
      Node: [node('n1', here)],
      PersistentVolume: [volume('v1', '1Gi', { phase: 'Bound', ...(terms && { terms }) })],
      PersistentVolumeClaim: [dataClaimOf('v1')],
    };
    const expected = reaches ? placedOn('n1') : refused;
    expectOutcomes(objects, pod('p', ['data']), expected);
  });

  test('if its affinity requires nothing', () => {
    const free = volume('v1', '1Gi', { phase: 'Bound', spec: { nodeAffinity: {} } });
    const objects: ClusterObjects = {
      Node: [node('n1')],
      PersistentVolume: [free],
      PersistentVolumeClaim: [dataClaimOf('v1')],
    };
    expectOutcomes(objects, pod('p', ['data']), placedOn('n1'));
  });

  test('by its name in matchFields, which kube-scheduler treats as always true', () => {
    const objects: ClusterObjects = {
      Node: [node('n1'), node('n2')],
      PersistentVolume: [
        boundVolume('v1', { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n2'] }] }),
      ],
      PersistentVolumeClaim: [dataClaimOf('v1')],
    };
    expectOutcomes(objects, pod('p', ['data']), placedOn('n2'), placedOn('n1'));
  });

  test('when the node gets the label, and no longer when it loses it', () => {
    const index = clusterOf({
      Node: [node('n1')],
      PersistentVolume: [boundVolume('v1', labelIn('zone', 'a'))],
      PersistentVolumeClaim: [dataClaimOf('v1')],
    });
    expect(planOutcome(index, pod('p', ['data']))).toEqual(refused);
    index.upsert('Node', { metadata: { name: 'n1', resourceVersion: '2', labels: { zone: 'a' } } });
    expect(planOutcome(index, pod('p', ['data']))).toEqual(placedOn('n1'));
    index.upsert('Node', { metadata: { name: 'n1', resourceVersion: '3', labels: {} } });
    expect(planOutcome(index, pod('p', ['data']))).toEqual(refused);
  });
});

function allOf(...terms: readonly NodeSelectorTerm[]): NodeSelectorTerm {
  return { matchExpressions: terms.flatMap((term) => term.matchExpressions ?? []) };
}
