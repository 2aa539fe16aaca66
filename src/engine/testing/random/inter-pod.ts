/** Random pods with inter-pod affinity and spread constraints, on few nodes, in few namespaces. */
import fc from 'fast-check';
import type { Node, Pod, PodAffinityTerm, TopologySpreadConstraint } from '../../../kube/api/core.ts';
import type { KubeObject, LabelSelector } from '../../../kube/api/meta.ts';
import { hostname, zone } from '../objects.ts';
import type { InterPodCluster } from '../oracle/inter-pod.ts';
import { withoutUndefined } from './chance.ts';
import { named, rack } from './names.ts';

export type InterPodKind = keyof InterPodCluster;

/** An object is added or deleted; or several are, and all of it is rolled back. */
export type InterPodEvent =
  | { readonly type: 'put'; readonly kind: InterPodKind; readonly object: KubeObject }
  | { readonly type: 'delete'; readonly kind: InterPodKind; readonly object: KubeObject }
  | { readonly type: 'what-if'; readonly events: readonly InterPodEvent[] };

const namespaces = ['red', 'blue'];
/** Mostly the same namespace, so that terms select pods. */
const arbNamespace = fc.constantFrom('red', 'red', 'red', 'blue');
const topologyKeys = [hostname, zone, rack];

const arbLabels = fc.record(
  { app: fc.constantFrom('x', 'x', 'x', 'y'), tier: fc.constantFrom('1', '2') },
  { requiredKeys: [] },
) as fc.Arbitrary<Record<string, string>>;

const arbSelector: fc.Arbitrary<LabelSelector | undefined> = fc.oneof(
  { weight: 4, arbitrary: arbLabels.map((matchLabels) => ({ matchLabels })) },
  fc.constant(undefined),
  fc.constantFrom<LabelSelector>(
    { matchExpressions: [{ key: 'app', operator: 'In', values: ['x', 'y'] }] },
    { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['x'] }] },
    { matchExpressions: [{ key: 'tier', operator: 'Exists' }] },
    { matchLabels: { app: 'x' }, matchExpressions: [{ key: 'tier', operator: 'DoesNotExist' }] },
  ),
);

const arbTerm: fc.Arbitrary<PodAffinityTerm> = fc
  .record({
    labelSelector: arbSelector,
    topologyKey: fc.constantFrom(...topologyKeys),
    scope: fc.constantFrom<PodAffinityTerm>(
      {},
      {},
      { namespaces: ['blue'] },
      { namespaceSelector: {} },
      { namespaceSelector: { matchLabels: { team: 'a' } } },
      { namespaces: ['red'], namespaceSelector: { matchLabels: { team: 'b' } } },
    ),
  })
  .map(({ scope, ...term }) => withoutUndefined({ ...term, ...scope }));

const arbTerms = fc.array(arbTerm, { maxLength: 2 });
const arbWeighted = fc.array(
  fc.record({ weight: fc.integer({ min: 1, max: 100 }), podAffinityTerm: arbTerm }),
  {
    maxLength: 2,
  },
);

const arbAffinity = fc
  .record({ affinity: arbTerms, antiAffinity: arbTerms, preferred: arbWeighted, avoided: arbWeighted })
  .map(({ affinity, antiAffinity, preferred, avoided }) => ({
    podAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: affinity,
      preferredDuringSchedulingIgnoredDuringExecution: preferred,
    },
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: antiAffinity,
      preferredDuringSchedulingIgnoredDuringExecution: avoided,
    },
  }));

const arbConstraint: fc.Arbitrary<TopologySpreadConstraint> = fc
  .record({
    maxSkew: fc.integer({ min: 1, max: 2 }),
    topologyKey: fc.constantFrom(...topologyKeys),
    whenUnsatisfiable: fc.constantFrom('DoNotSchedule' as const, 'ScheduleAnyway' as const),
    labelSelector: arbSelector,
    minDomains: fc.constantFrom(undefined, undefined, 2, 3),
    nodeAffinityPolicy: fc.constantFrom(undefined, 'Honor' as const, 'Ignore' as const),
    nodeTaintsPolicy: fc.constantFrom(undefined, 'Honor' as const, 'Ignore' as const),
    matchLabelKeys: fc.constantFrom(undefined, undefined, ['app'], ['app', 'tier']),
  })
  .map(withoutUndefined);

const hasRackLabel = { matchExpressions: [{ key: rack, operator: 'Exists' as const }] };
const arbSpread = fc.record({
  topologySpreadConstraints: fc.array(arbConstraint, { maxLength: 2 }),
  nodeSelector: fc.constantFrom({}, {}, { [zone]: 'a' }),
  affinity: fc.constantFrom(
    {},
    {},
    {
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [hasRackLabel] } },
    },
  ),
  tolerations: fc.constantFrom([], [{ key: 'old', operator: 'Exists' as const }]),
});

const arbOwner = fc.constantFrom(undefined, undefined, 'ReplicaSet', 'StatefulSet');

function arbPod(
  name: string,
  spec: fc.Arbitrary<Pod['spec']>,
  nodeName: fc.Arbitrary<string>,
): fc.Arbitrary<Pod> {
  return fc
    .record({ namespace: arbNamespace, labels: arbLabels, spec, nodeName, owner: arbOwner })
    .map(({ namespace, labels, spec: asked, nodeName: at, owner }) => ({
      metadata: {
        namespace,
        name,
        labels,
        ...(owner && { ownerReferences: [{ kind: owner, name: 'owner', uid: 'uid', controller: true }] }),
      },
      spec: { ...asked, ...(at !== '' && { nodeName: at }) },
    }));
}

const arbSpec = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  arbAffinity.map((affinity) => ({ affinity })),
) as fc.Arbitrary<Pod['spec']>;

export const arbAffinePod = arbPod(
  'pending',
  arbAffinity.map((affinity) => ({ affinity })),
  fc.constant(''),
);
export const arbSpreadPod = arbPod('pending', arbSpread, fc.constant(''));

const nodeNames = named('n', 4);

const arbExistingPod: fc.Arbitrary<Pod> = fc
  .record({
    pod: fc
      .constantFrom(...named('p', 10))
      .chain((name) =>
        arbPod(name, arbSpec, fc.constantFrom('', 'gone', ...nodeNames, ...nodeNames, 'n1', 'n1')),
      ),
    state: fc.constantFrom('', '', '', '', 'deleting', 'finished'),
  })
  .map(({ pod, state }) => ({
    ...pod,
    metadata: { ...pod.metadata, ...(state === 'deleting' && { deletionTimestamp: '2026-01-01T00:00:00Z' }) },
    ...(state === 'finished' && { status: { phase: 'Succeeded' as const } }),
  }));

const arbNode: fc.Arbitrary<Node> = fc
  .record({
    name: fc.constantFrom(...nodeNames),
    zone: fc.constantFrom(undefined, '', 'a', 'a', 'a', 'b', 'b', 'b'),
    rack: fc.constantFrom(undefined, '1', '1', '2', '2'),
    hasName: fc.constantFrom(true, true, true, true, true, false),
    taints: fc.constantFrom(
      [],
      [],
      [{ key: 'old', effect: 'NoSchedule' as const }],
      [{ key: 'odd', effect: 'PreferNoSchedule' as const }],
    ),
  })
  .map(({ name, zone: inZone, rack: inRack, hasName, taints }) => ({
    metadata: {
      name,
      labels: withoutUndefined({ [hostname]: hasName ? name : undefined, [zone]: inZone, [rack]: inRack }),
    },
    spec: { taints },
  }));

const arbGrouping = fc.record({ namespace: arbNamespace, labels: arbLabels });

const arbObject: fc.Arbitrary<{ readonly kind: InterPodKind; readonly object: KubeObject }> = fc.oneof(
  { weight: 12, arbitrary: arbExistingPod.map((object) => ({ kind: 'Pod' as const, object })) },
  { weight: 4, arbitrary: arbNode.map((object) => ({ kind: 'Node' as const, object })) },
  fc
    .record({ name: fc.constantFrom(...namespaces), team: fc.constantFrom('a', 'b') })
    .map(({ name, team }) => ({
      kind: 'Namespace' as const,
      object: { metadata: { name, labels: { team } } },
    })),
  arbGrouping.map(({ namespace, labels }) => ({
    kind: 'Service' as const,
    object: { metadata: { namespace, name: 'web' }, spec: { selector: labels } },
  })),
  fc
    .tuple(fc.constantFrom('ReplicaSet' as const, 'StatefulSet' as const), arbGrouping)
    .map(([kind, { namespace, labels }]) => ({
      kind,
      object: { metadata: { namespace, name: 'owner' }, spec: { selector: { matchLabels: labels } } },
    })),
);

const arbSimpleEvent = fc
  .record({ type: fc.constantFrom('put', 'put', 'put', 'delete'), it: arbObject })
  .map(({ type, it }) => ({ type, ...it }) as InterPodEvent);

/** Events before the first comparison. */
const arbSetup: fc.Arbitrary<readonly InterPodEvent[]> = fc.array(
  arbObject.map((it): InterPodEvent => ({ type: 'put', ...it })),
  { minLength: 20, maxLength: 40 },
);

const arbEvents: fc.Arbitrary<readonly InterPodEvent[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: arbSimpleEvent },
    {
      weight: 1,
      arbitrary: fc
        .array(arbSimpleEvent, { minLength: 1, maxLength: 4 })
        .map((events): InterPodEvent => ({ type: 'what-if', events })),
    },
  ),
  { minLength: 1, maxLength: 10 },
);

export interface InterPodHistory {
  readonly setup: readonly InterPodEvent[];
  readonly events: readonly InterPodEvent[];
}

export const arbInterPodHistory: fc.Arbitrary<InterPodHistory> = fc.record({
  setup: arbSetup,
  events: arbEvents,
});
