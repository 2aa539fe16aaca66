/** What random pods want of nodes and of each other. */
import fc from 'fast-check';
import { compact, sometimes } from '../../../src/engine/testing/random/chance.ts';
import { nodeNames, rack, zones } from '../../../src/engine/testing/random/names.ts';
import type {
  Affinity,
  NodeSelectorRequirement,
  PodAffinityTerm,
  Toleration,
  TopologySpreadConstraint,
} from '../../../src/kube/core.ts';
import type { LabelSelector } from '../../../src/kube/meta.ts';
import { labels } from '../../../src/kube/well-known.ts';

const topologyKeys = [labels.hostname, labels.zone, rack];

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
    values: fc.constantFrom(['1'], ['2']),
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
    matchFields: sometimes(20, fc.array(arbField, { minLength: 1, maxLength: 1 })),
  })
  .map(compact);

export const arbNodeAffinity = fc
  .record({
    nodeSelector: sometimes(
      30,
      fc.constantFrom({ [labels.zone]: 'a' }, { [rack]: '1' }, { [labels.zone]: 'b' }),
    ),
    required: sometimes(
      50,
      fc.array(arbTerm, { minLength: 1, maxLength: 2 }).map((nodeSelectorTerms) => ({ nodeSelectorTerms })),
    ),
  })
  .map(({ nodeSelector, required }) => ({
    nodeSelector,
    nodeAffinity: required && { requiredDuringSchedulingIgnoredDuringExecution: required },
  }));

export const arbTolerations: fc.Arbitrary<Toleration[]> = fc.array(
  fc.constantFrom<Toleration>(
    { operator: 'Exists' },
    { key: 'old', operator: 'Exists' },
    { key: 'old', operator: 'Equal', value: 'yes', effect: 'NoSchedule' },
    { key: 'old', operator: 'Equal', value: 'no' },
    { key: 'odd', operator: 'Exists', effect: 'NoExecute' },
    { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' },
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
    ),
  },
);

/** The server wants a key either in the selector or among the keys that are added to it; and no keys without a selector. */
function mentionsTier(selector: LabelSelector | undefined): boolean {
  return selector === undefined || JSON.stringify(selector).includes('tier');
}

const arbPodTerm: fc.Arbitrary<PodAffinityTerm> = fc
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
    ),
    keys: fc.constantFrom<Partial<PodAffinityTerm>>(
      {},
      {},
      {},
      { matchLabelKeys: ['tier'] },
      { mismatchLabelKeys: ['tier'] },
    ),
  })
  .map(({ scope, keys, labelSelector, topologyKey }) => ({
    ...scope,
    ...(labelSelector !== undefined && { labelSelector, ...(!mentionsTier(labelSelector) && keys) }),
    topologyKey,
  }));

export const arbPodAffinity: fc.Arbitrary<Affinity> = fc
  .record({
    near: sometimes(45, fc.array(arbPodTerm, { minLength: 1, maxLength: 2 })),
    apart: sometimes(65, fc.array(arbPodTerm, { minLength: 1, maxLength: 2 })),
  })
  .map(({ near, apart }) => ({
    ...(near && { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: near } }),
    ...(apart && { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: apart } }),
  }));

export const arbSpread: fc.Arbitrary<TopologySpreadConstraint[]> = fc.uniqueArray(
  fc
    .record({
      maxSkew: fc.integer({ min: 1, max: 2 }),
      topologyKey: fc.constantFrom(...topologyKeys),
      whenUnsatisfiable: fc.constantFrom(
        'DoNotSchedule' as const,
        'DoNotSchedule' as const,
        'ScheduleAnyway' as const,
      ),
      labelSelector: arbSelector,
      minDomains: fc.constantFrom(undefined, undefined, 2, 3),
      nodeAffinityPolicy: fc.constantFrom(undefined, 'Honor' as const, 'Ignore' as const),
      nodeTaintsPolicy: fc.constantFrom(undefined, 'Honor' as const, 'Ignore' as const),
      matchLabelKeys: fc.constantFrom(undefined, undefined, ['tier']),
    })
    .map(({ minDomains, matchLabelKeys, ...rest }) =>
      compact({
        ...rest,
        minDomains: rest.whenUnsatisfiable === 'DoNotSchedule' ? minDomains : undefined,
        matchLabelKeys: mentionsTier(rest.labelSelector) ? undefined : matchLabelKeys,
      }),
    ),
  {
    minLength: 1,
    maxLength: 2,
    selector: ({ topologyKey, whenUnsatisfiable }) => `${topologyKey} ${whenUnsatisfiable}`,
  },
) as fc.Arbitrary<TopologySpreadConstraint[]>;
