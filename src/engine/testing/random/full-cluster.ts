/** Random clusters in which every kind of rule can refuse a pod: volumes, resources, taints, labels, ports and inter-pod rules. */
import fc from 'fast-check';
import type { Node, Pod, ResourceList, Taint } from '../../../kube/api/core.ts';
import type { ClusterObjects } from '../cluster.ts';
import { zone } from '../objects.ts';
import { arbCluster } from './cluster.ts';

export interface FullCluster {
  readonly objects: ClusterObjects;
  readonly pod: Pod;
}

const arbTaints: fc.Arbitrary<readonly Taint[]> = fc.constantFrom<readonly Taint[]>(
  [],
  [],
  [],
  [{ key: 'dedicated', value: 'db', effect: 'NoSchedule' }],
  [{ key: 'old', effect: 'NoExecute' }],
  [
    { key: 'old', effect: 'PreferNoSchedule' },
    { key: 'dedicated', value: 'web', effect: 'NoSchedule' },
  ],
);

const arbNodeTraits = fc.record({
  taints: arbTaints,
  unschedulable: fc.constantFrom(false, false, false, false, false, true),
  disk: fc.constantFrom('ssd', 'ssd', 'hdd', undefined),
  allocatable: fc.record({
    cpu: fc.constantFrom('1', '3500m', '8', '16'),
    memory: fc.constantFrom('1Gi', '4Gi', '16Gi', '16Gi'),
    pods: fc.constantFrom('1', '3', '110', '110'),
  }),
});

const arbRequests: fc.Arbitrary<ResourceList> = fc.record({
  cpu: fc.constantFrom('0', '100m', '1', '2500m', '9'),
  memory: fc.constantFrom('0', '1Gi', '3Gi'),
});

const arbRequirements = fc.record({
  requests: fc.array(arbRequests, { minLength: 1, maxLength: 2 }),
  hostPort: fc.constantFrom(undefined, undefined, 80),
  nodeSelector: fc.constantFrom(undefined, undefined, { disk: 'ssd' }, { disk: 'ssd', gpu: 'yes' }),
  antiAffinityKey: fc.constantFrom(undefined, undefined, undefined, zone, 'kubernetes.io/hostname'),
  skew: fc.constantFrom(undefined, undefined, undefined, 1, 2),
});

type Requirements = typeof arbRequirements extends fc.Arbitrary<infer T> ? T : never;

const web = { matchLabels: { app: 'web' } };

function withRequirements(pod: Pod, requirements: Requirements): Pod {
  const { requests, hostPort, nodeSelector, antiAffinityKey, skew } = requirements;
  return {
    ...pod,
    metadata: { ...pod.metadata, labels: { app: 'web' } },
    spec: {
      ...pod.spec,
      containers: requests.map((asked, at) => ({
        name: `c${at}`,
        resources: { requests: asked },
        ...(at === 0 && hostPort !== undefined && { ports: [{ hostPort, containerPort: hostPort }] }),
      })),
      ...(nodeSelector && { nodeSelector }),
      ...(antiAffinityKey && {
        affinity: {
          podAntiAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              { topologyKey: antiAffinityKey, labelSelector: web },
            ],
          },
        },
      }),
      ...(skew && {
        topologySpreadConstraints: [
          { topologyKey: zone, maxSkew: skew, whenUnsatisfiable: 'DoNotSchedule', labelSelector: web },
        ],
      }),
    },
  };
}

function withTraits(
  node: Node,
  traits: typeof arbNodeTraits extends fc.Arbitrary<infer T> ? T : never,
): Node {
  const { taints, unschedulable, disk, allocatable } = traits;
  return {
    ...node,
    metadata: { ...node.metadata, labels: { ...node.metadata?.labels, ...(disk && { disk }) } },
    spec: { ...node.spec, taints, unschedulable },
    status: { ...node.status, allocatable },
  };
}

const arbAllRules: fc.Arbitrary<FullCluster> = fc
  .record({
    cluster: arbCluster,
    traits: fc.array(arbNodeTraits, { minLength: 8, maxLength: 8 }),
    requirements: fc.array(arbRequirements, { minLength: 4, maxLength: 4 }),
    hasVolumes: fc.constantFrom(true, false),
  })
  .map(({ cluster, traits, requirements, hasVolumes }) => ({
    objects: {
      ...cluster.objects,
      Node: cluster.objects.Node.map((node, at) => withTraits(node, traits[at % traits.length]!)),
      Pod: cluster.objects.Pod.map((pod, at) =>
        withRequirements(pod, { ...requirements[at % requirements.length]!, antiAffinityKey: undefined }),
      ),
    },
    pod: withRequirements(
      hasVolumes ? cluster.pod : { ...cluster.pod, spec: { ...cluster.pod.spec, volumes: [] } },
      requirements[requirements.length - 1]!,
    ),
  }));

/** Half of the clusters exercise only the volume rules. */
export const arbFullCluster: fc.Arbitrary<FullCluster> = fc.oneof(arbCluster, arbAllRules);
