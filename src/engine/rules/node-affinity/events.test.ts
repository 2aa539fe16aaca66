import { describe, expect, test } from 'vitest';
import type { Node, NodeSelectorRequirement, NodeSelectorTerm, Pod } from '../../../kube/api/core.ts';
import { clusterOf } from '../../testing/cluster.ts';
import { upserted } from '../../testing/index-events.ts';
import { atVersion, hostname, node } from '../../testing/objects.ts';
import { expectSameAsOracle, type RuleOracle } from '../../testing/rule-checks/expect-same-as-oracle.ts';
import { expectRuleWakeCases, nodeWithFields, podWithSpec } from '../../testing/rule-checks/rule-cases.ts';
import { plan } from '../../testing/whole-engine.ts';
import { eraseState } from '../framework/rule.ts';
import { nodeAffinityRule } from './rule.ts';

const rule = eraseState(nodeAffinityRule);

describe('a pod that was refused', () => {
  const waiting = { cluster: { Node: [node('n1')] }, pod: podWithSpec({ nodeSelector: { a: 'b' } }) };
  expectRuleWakeCases(rule, [
    {
      ...waiting,
      name: 'is woken when its node is labelled',
      event: upserted('Node', atVersion('2', node('n1', { a: 'b' }))),
      wakes: true,
    },
    {
      ...waiting,
      name: 'is not woken by another label',
      event: upserted('Node', atVersion('2', node('n1', { a: 'c' }))),
      wakes: false,
    },
    {
      ...waiting,
      name: 'is not woken by a change without labels',
      event: upserted('Node', atVersion('2', nodeWithFields('n1', { spec: { unschedulable: true } }))),
      wakes: false,
    },
    {
      ...waiting,
      name: 'is woken by a node that matches',
      event: upserted('Node', node('n2', { a: 'b' })),
      wakes: true,
    },
    {
      ...waiting,
      name: 'is not woken by a node that does not match',
      event: upserted('Node', node('n2')),
      wakes: false,
    },
  ]);
});

test('more pods than the cache holds each get an answer for the current nodes', () => {
  const index = clusterOf({ Node: [node('n1'), node('n2')] });
  const place = (spec: Pod['spec']) => plan(podWithSpec(spec), index, { nowMs: 0, rules: [rule] });
  const topologies = index.topologies.size;
  for (let count = 0; count < 1_500; count++) {
    expect(place({ nodeSelector: { app: `a${count}` } }).kind).toBe('refusal');
  }
  expect(index.topologies.size - topologies).toBe(1_000);
  index.upsert('Node', atVersion('2', node('n2', { app: 'a3' })));
  expect(place({ nodeSelector: { app: 'a3' } })).toMatchObject({ node: 'n2' });
  index.upsert('Node', atVersion('3', node('n2', { app: 'a1499' })));
  expect(place({ nodeSelector: { app: 'a1499' } })).toMatchObject({ node: 'n2' });
  expect(place({ nodeSelector: { app: 'a3' } }).kind).toBe('refusal');
  expect(place({ nodeSelector: { [hostname]: 'n1' } })).toMatchObject({ node: 'n1' });
});

function holds(
  { key, operator, values = [] }: NodeSelectorRequirement,
  labels: Record<string, string>,
): boolean {
  const value = labels[key!];
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return value !== undefined && Number(value) > Number(values[0]);
    default:
      return false;
  }
}

const known = ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt'];

function termHolds(
  { matchExpressions = [], matchFields = [] }: NodeSelectorTerm,
  { metadata }: Node,
): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  if (!matchExpressions.every(({ operator }) => known.includes(operator!))) return false;
  const isReadable = ({ operator, values = [] }: NodeSelectorRequirement) =>
    (operator === 'In' || operator === 'NotIn') && values.length === 1;
  if (!matchFields.every(isReadable)) return false;
  return (
    matchExpressions.every((requirement) => holds(requirement, metadata!.labels as Record<string, string>)) &&
    matchFields.every(({ key, operator, values }) => {
      const value = key === 'metadata.name' ? metadata!.name! : '';
      return values!.includes(value) === (operator === 'In');
    })
  );
}

/** The names that all conditions of each term share; undefined if a term has none. */
function pinned(terms: readonly NodeSelectorTerm[]): string[] | undefined {
  const each = terms.map(({ matchFields = [] }) =>
    matchFields.filter(({ key, operator }) => key === 'metadata.name' && operator === 'In'),
  );
  if (each.length === 0 || each.some((conditions) => conditions.length === 0)) return undefined;
  const names = ['n1', 'n2', 'n3', 'n4'];
  return names.filter((name) =>
    each.some((conditions) => conditions.every(({ values }) => values!.includes(name))),
  );
}

const oracle: RuleOracle = (model, asking) => {
  const affinity = asking.spec?.affinity?.nodeAffinity;
  const required = affinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  const preferred = affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const selector = Object.entries(asking.spec?.nodeSelector ?? {});
  const pins = required && pinned(required);
  if (pins?.length === 0) return { refusals: ['AffinityTermsConflict'], refused: {}, scores: {} };
  const fits = (one: Node) =>
    selector.every(([key, value]) => one.metadata!.labels![key] === value) &&
    (required === undefined || required.some((term) => termHolds(term, one)));
  const weights = model
    .nodes()
    .filter(fits)
    .map((one) => {
      const liked = preferred.filter(({ preference }) => termHolds(preference!, one));
      return [one.metadata!.name!, liked.reduce((sum, { weight }) => sum + weight!, 0)] as const;
    });
  const most = Math.max(...weights.map(([, weight]) => weight), 1);
  const readable = preferred.some(({ preference }) => canHold(preference!));
  const isAsked = required !== undefined || selector.length > 0 || readable;
  return {
    refusals: [],
    refused: Object.fromEntries(
      model
        .nodes()
        .filter((one) => !fits(one))
        .map(({ metadata }) => [
          metadata!.name!,
          [pins?.includes(metadata!.name!) === false ? 'LeftOutByName' : 'NodeAffinityMismatch'],
        ]),
    ),
    scores: Object.fromEntries(
      isAsked ? weights.map(([name, weight]) => [name, Math.floor((100 * weight) / most)]) : [],
    ),
  };
};

/** Whether the pod has preferred terms. */
function canHold({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm): boolean {
  return (
    matchExpressions.length + matchFields.length > 0 &&
    matchExpressions.every(({ operator }) => known.includes(operator!)) &&
    matchFields.every(({ operator, values }) => operator !== 'Exists' && values!.length === 1)
  );
}

test('it agrees with a simple reference implementation', () => {
  expectSameAsOracle(rule, oracle, { runs: 300 });
});
