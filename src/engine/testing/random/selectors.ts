import fc from 'fast-check';
import type {
  NodeSelectorRequirement,
  NodeSelectorTerm,
  TopologySelectorTerm,
} from '../../../kube/api/core.ts';
import type { LabelSelector } from '../../../kube/api/meta.ts';
import { labels as wellKnownLabels } from '../../../kube/well-known.ts';
import { sometimes, withoutUndefined } from './chance.ts';
import { nodeNames, rack, zones } from './names.ts';

const expressions: fc.Arbitrary<NodeSelectorRequirement> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      key: fc.constant(wellKnownLabels.hostname),
      operator: fc.constantFrom('In', 'In', 'In', 'NotIn'),
      values: fc.uniqueArray(fc.constantFrom(...nodeNames), { minLength: 1, maxLength: 3 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      key: fc.constant(wellKnownLabels.zone),
      operator: fc.constantFrom('In', 'NotIn'),
      values: fc.uniqueArray(fc.constantFrom(...zones), { minLength: 1, maxLength: 2 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ key: fc.constant(rack), operator: fc.constantFrom('Exists', 'DoesNotExist') }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      key: fc.constant(rack),
      operator: fc.constantFrom('Gt', 'Lt'),
      values: fc.constantFrom(['1'], ['2'], ['9007199254740993']),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<NodeSelectorRequirement>(
      { key: rack, operator: 'Gt', values: ['x'] },
      { key: rack, operator: 'In', values: [] },
      { key: rack, operator: 'Exists', values: ['1'] },
      { key: '-bad-', operator: 'Exists' },
      { key: rack, operator: 'Sometimes' as 'In', values: ['1'] },
      { key: rack, operator: 'In', values: ['not a label value'] },
    ),
  },
);

const fields: fc.Arbitrary<NodeSelectorRequirement> = fc.record({
  key: fc.constant('metadata.name'),
  operator: fc.constantFrom('In', 'NotIn'),
  values: fc.constantFrom(...nodeNames).map((name) => [name]),
});

const terms: fc.Arbitrary<NodeSelectorTerm> = fc
  .record({
    matchExpressions: sometimes(90, fc.array(expressions, { minLength: 1, maxLength: 2 })),
    matchFields: sometimes(15, fc.array(fields, { minLength: 1, maxLength: 1 })),
  })
  .map(withoutUndefined);

export const nodeSelectors = fc.record({
  nodeSelectorTerms: fc.oneof(
    { weight: 12, arbitrary: fc.array(terms, { minLength: 1, maxLength: 3 }) },
    { weight: 1, arbitrary: fc.constant([]) },
  ),
});

export const labelSelectors: fc.Arbitrary<LabelSelector> = fc.oneof(
  { weight: 2, arbitrary: fc.constant({}) },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom(...nodeNames)
      .map((name) => ({ matchLabels: { [wellKnownLabels.hostname]: name } })),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(...zones).map((zone) => ({ matchLabels: { [wellKnownLabels.zone]: zone } })),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom<LabelSelector>(
      { matchExpressions: [{ key: rack, operator: 'Exists' }] },
      { matchExpressions: [{ key: wellKnownLabels.zone, operator: 'NotIn', values: ['a'] }] },
      { matchExpressions: [{ key: wellKnownLabels.zone, operator: 'In', values: [] }] },
    ),
  },
);

export const allowedTopologies: fc.Arbitrary<TopologySelectorTerm[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.uniqueArray(fc.constantFrom(...zones), { minLength: 1, maxLength: 2 }).map((values) => ({
        matchLabelExpressions: [{ key: wellKnownLabels.zone, values }],
      })),
    },
    { weight: 1, arbitrary: fc.constant({}) },
    {
      weight: 1,
      arbitrary: fc.constant({ matchLabelExpressions: [{ key: rack, values: [] }] }),
    },
  ),
  { minLength: 0, maxLength: 2 },
);
