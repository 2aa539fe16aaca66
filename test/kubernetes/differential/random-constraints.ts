/** Random constraints of pods on nodes and on other pods. */
import fc from 'fast-check';
import { sometimes, withoutUndefined } from '../../../src/engine/testing/random/chance.ts';
import { nodeNames, rack, zones } from '../../../src/engine/testing/random/names.ts';
import type {
  Affinity,
  NodeSelectorRequirement,
  PodAffinity,
  PodAffinityTerm,
  Toleration,
  TopologySpreadConstraint,
  WeightedPodAffinityTerm,
} from '../../../src/kube/api/core.ts';
import type { LabelSelector } from '../../../src/kube/api/meta.ts';
import { labels } from '../../../src/kube/well-known.ts';
import { drawsNamespacesByAbsence } from './differences.ts';

const topologyKeys = [labels.hostname, labels.hostname, labels.zone, labels.zone, rack, rack, labels.region];

const arbRequirement: fc.Arbitrary<NodeSelectorRequirement> = fc.oneof(
  fc.record({
    key: fc.constant(labels.zone),
    operator: fc.constantFrom('In' as const, 'In' as const, 'NotIn' as const),
    values: fc.uniqueArray(fc.constantFrom(...zones), { minLength: 1, maxLength: 2 }),
  }),
  fc.record({
    key: fc.constant(rack),
    operator: fc.constantFrom('Exists' as const, 'DoesNotExist' as const),
  }),
  fc.record({
    key: fc.constant(rack),
    operator: fc.constantFrom('Gt' as const, 'Lt' as const),
    values: fc.constantFrom(['1'], ['2'], ['0'], ['-1']),
  }),
  fc.record({
    key: fc.constantFrom(rack, labels.hostname, 'gone'),
    operator: fc.constantFrom('In' as const, 'NotIn' as const),
    values: fc.uniqueArray(fc.constantFrom('1', 'x', '', 'n1', 'n2'), { minLength: 1, maxLength: 3 }),
  }),
);

const arbField: fc.Arbitrary<NodeSelectorRequirement> = fc.record({
  key: fc.constant('metadata.name'),
  operator: fc.constantFrom('In' as const, 'In' as const, 'NotIn' as const),
  values: fc.constantFrom(...nodeNames, 'gone').map((name) => [name]),
});

const arbTerm = fc
  .record({
    matchExpressions: sometimes(75, fc.array(arbRequirement, { minLength: 1, maxLength: 2 })),
    matchFields: sometimes(20, fc.array(arbField, { minLength: 1, maxLength: 2 })),
  })
  .map(withoutUndefined);

const arbPreference = fc.record({ weight: fc.integer({ min: 1, max: 100 }), preference: arbTerm });

export const arbNodeAffinity = fc
  .record({
    nodeSelector: sometimes(
      30,
      fc.constantFrom<Record<string, string>>(
        { [labels.zone]: 'a' },
        { [rack]: '1' },
        { [labels.zone]: 'b' },
        { [labels.zone]: 'a', [rack]: '' },
      ),
    ),
    required: sometimes(
      50,
      fc.array(arbTerm, { minLength: 1, maxLength: 3 }).map((nodeSelectorTerms) => ({ nodeSelectorTerms })),
    ),
    preferred: sometimes(10, fc.array(arbPreference, { minLength: 1, maxLength: 2 })),
  })
  .map(({ nodeSelector, required, preferred }) => ({
    nodeSelector,
    nodeAffinity:
      required || preferred
        ? withoutUndefined({
            requiredDuringSchedulingIgnoredDuringExecution: required,
            preferredDuringSchedulingIgnoredDuringExecution: preferred,
          })
        : undefined,
  }));

export const arbTolerations: fc.Arbitrary<Toleration[]> = fc.array(
  fc.constantFrom<Toleration>(
    { operator: 'Exists' },
    { key: 'old', operator: 'Exists' },
    { key: 'old', operator: 'Equal', value: 'yes', effect: 'NoSchedule' },
    { key: 'old', operator: 'Equal', value: 'no' },
    { key: 'odd', operator: 'Exists', effect: 'NoExecute' },
    { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' },
    { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' },
    { operator: 'Exists', effect: 'NoSchedule' },
    { key: 'old', value: 'yes' },
    { key: 'odd', effect: 'NoExecute', tolerationSeconds: 5 },
    { key: 'size', operator: 'Equal', value: '5', effect: 'NoExecute' },
    { key: 'size', operator: 'Exists', effect: 'PreferNoSchedule' },
  ),
  { minLength: 1, maxLength: 2 },
);

const arbSelector: fc.Arbitrary<LabelSelector | undefined> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .constantFrom({ app: 'x' }, { app: 'y' }, { tier: '1' })
      .map((matchLabels) => ({ matchLabels })),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom<LabelSelector | undefined>(
      undefined,
      {},
      { matchExpressions: [{ key: 'app', operator: 'In', values: ['x', 'y'] }] },
      { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['x'] }] },
      { matchExpressions: [{ key: 'tier', operator: 'Exists' }] },
      { matchExpressions: [{ key: 'tier', operator: 'DoesNotExist' }] },
      { matchLabels: { app: 'x' }, matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['1'] }] },
    ),
  },
);

/** The server requires that a key is either in the selector or in matchLabelKeys, and allows no keys without a selector. */
function mentionsTier(selector: LabelSelector | undefined): boolean {
  return selector === undefined || JSON.stringify(selector).includes('tier');
}

const byAbsence: Partial<PodAffinityTerm> = {
  namespaceSelector: { matchExpressions: [{ key: 'team', operator: 'NotIn', values: ['b'] }] },
};

type Whose = Parameters<typeof drawsNamespacesByAbsence>[0];

const arbPodTerm = (whose: Whose): fc.Arbitrary<PodAffinityTerm> =>
  fc
    .record({
      labelSelector: arbSelector,
      topologyKey: fc.constantFrom(...topologyKeys),
      scope: fc.constantFrom<Partial<PodAffinityTerm>>(
        {},
        {},
        {},
        { namespaces: ['blue'] },
        { namespaceSelector: {} },
        { namespaceSelector: { matchLabels: { team: 'b' } } },
        { namespaces: ['default'], namespaceSelector: { matchLabels: { team: 'b' } } },
        { namespaces: ['gone'] },
        { namespaces: ['default', 'blue'] },
        { namespaceSelector: { matchExpressions: [{ key: 'team', operator: 'In', values: ['a', 'c'] }] } },
        ...(drawsNamespacesByAbsence(whose) ? [byAbsence] : []),
      ),
      keys: fc.constantFrom<Partial<PodAffinityTerm>>(
        {},
        {},
        {},
        { matchLabelKeys: ['tier'] },
        { mismatchLabelKeys: ['tier'] },
        { matchLabelKeys: ['gone'] },
        { matchLabelKeys: ['tier'], mismatchLabelKeys: ['gone'] },
      ),
    })
    .map(({ scope, keys, labelSelector, topologyKey }) => ({
      ...scope,
      ...(labelSelector !== undefined && { labelSelector, ...(!mentionsTier(labelSelector) && keys) }),
      topologyKey,
    }));

const arbWeighted = (whose: Whose) =>
  fc.record({ weight: fc.integer({ min: 1, max: 100 }), podAffinityTerm: arbPodTerm(whose) });

export const arbPodAffinity = (whose: Whose): fc.Arbitrary<Affinity> =>
  fc
    .record({
      near: sometimes(45, fc.array(arbPodTerm(whose), { minLength: 1, maxLength: 2 })),
      apart: sometimes(65, fc.array(arbPodTerm(whose), { minLength: 1, maxLength: 2 })),
      likes: sometimes(10, fc.array(arbWeighted(whose), { minLength: 1, maxLength: 2 })),
      dislikes: sometimes(10, fc.array(arbWeighted(whose), { minLength: 1, maxLength: 2 })),
    })
    .map(({ near, apart, likes, dislikes }) =>
      withoutUndefined({ podAffinity: sideOf(near, likes), podAntiAffinity: sideOf(apart, dislikes) }),
    );

function sideOf(
  required: readonly PodAffinityTerm[] | undefined,
  preferred: readonly WeightedPodAffinityTerm[] | undefined,
): PodAffinity | undefined {
  if (required === undefined && preferred === undefined) return undefined;
  return withoutUndefined({
    requiredDuringSchedulingIgnoredDuringExecution: required,
    preferredDuringSchedulingIgnoredDuringExecution: preferred,
  }) as PodAffinity;
}

export const arbSpread: fc.Arbitrary<TopologySpreadConstraint[]> = fc.uniqueArray(
  fc
    .record({
      maxSkew: fc.integer({ min: 1, max: 3 }),
      topologyKey: fc.constantFrom(...topologyKeys),
      whenUnsatisfiable: fc.constantFrom(
        'DoNotSchedule' as const,
        'DoNotSchedule' as const,
        'ScheduleAnyway' as const,
      ),
      labelSelector: arbSelector,
      minDomains: fc.constantFrom(undefined, undefined, undefined, 1, 2, 3),
      nodeAffinityPolicy: fc.constantFrom(undefined, 'Honor' as const, 'Ignore' as const),
      nodeTaintsPolicy: fc.constantFrom(undefined, 'Honor' as const, 'Ignore' as const),
      matchLabelKeys: fc.constantFrom(undefined, undefined, undefined, ['tier'], ['tier', 'gone']),
    })
    .map(({ minDomains, matchLabelKeys, ...rest }) =>
      withoutUndefined({
        ...rest,
        minDomains: rest.whenUnsatisfiable === 'DoNotSchedule' ? minDomains : undefined,
        matchLabelKeys: mentionsTier(rest.labelSelector) ? undefined : matchLabelKeys,
      }),
    ),
  {
    minLength: 1,
    maxLength: 3,
    selector: ({ topologyKey, whenUnsatisfiable }) => `${topologyKey} ${whenUnsatisfiable}`,
  },
) as fc.Arbitrary<TopologySpreadConstraint[]>;
