/** Random clusters with nodes that are not ready, pods that are being deleted, released volumes and pod affinity. */
import fc from 'fast-check';
import type { Node, PersistentVolume, PersistentVolumeClaim, Pod, Taint } from '../../../kube/api/core.ts';
import { hostname } from '../../testing/objects.ts';
import { arbFullCluster, type FullCluster } from '../../testing/random/full-cluster.ts';

const gpu = 'example.com/gpu';

const arbNodeTraits = fc.record({
  taint: fc.constantFrom<Taint | undefined>(
    undefined,
    undefined,
    undefined,
    { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' },
    { key: 'ToBeDeletedByClusterAutoscaler', value: '1', effect: 'NoSchedule' },
  ),
  gpus: fc.constantFrom('0', '1', '4'),
  scratch: fc.constantFrom('10Gi', '5368709119'),
  rack: fc.constantFrom('r1', 'r2', undefined),
});

const arbPodTraits = fc.record({
  owner: fc.constantFrom('DaemonSet', 'DaemonSet', 'ReplicaSet', undefined),
  isDeleting: fc.constantFrom(true, false, false),
  gpus: fc.constantFrom('0', '1'),
  priority: fc.constantFrom(0, 0, 10),
});

const arbRequests = fc.record({
  gpus: fc.constantFrom(undefined, undefined, undefined, '1', '2'),
  scratch: fc.constantFrom(undefined, undefined, undefined, '5Gi', '20000000001'),
  near: fc.constantFrom(undefined, undefined, undefined, 'cache', 'web'),
  overhead: fc.constantFrom(undefined, undefined, '250m'),
  rack: fc.constantFrom(undefined, undefined, undefined, 'r1', 'r3'),
});

const arbVolumeTraits = fc.record({
  isReleased: fc.constantFrom(true, false, false, false),
  policy: fc.constantFrom('Retain' as const, 'Retain' as const, 'Delete' as const),
});

type Drawn<A> = A extends fc.Arbitrary<infer T> ? T : never;

function nodeWith(node: Node, { taint, gpus, scratch, rack }: Drawn<typeof arbNodeTraits>): Node {
  return {
    ...node,
    metadata: {
      ...node.metadata,
      labels: { ...node.metadata?.labels, ...(rack && { 'topology.example.com/rack': rack }) },
    },
    spec: { ...node.spec, taints: [...(node.spec?.taints ?? []), ...(taint === undefined ? [] : [taint])] },
    status: { allocatable: { ...node.status?.allocatable, [gpu]: gpus, 'ephemeral-storage': scratch } },
  };
}

function existing(pod: Pod, { owner, isDeleting, gpus, priority }: Drawn<typeof arbPodTraits>): Pod {
  const [first, ...others] = pod.spec?.containers ?? [{ name: 'main' }];
  const requests = { ...first?.resources?.requests, [gpu]: gpus };
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      ...(owner && {
        ownerReferences: [{ apiVersion: 'apps/v1', kind: owner, name: 'own', uid: 'own', controller: true }],
      }),
      ...(isDeleting && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    },
    spec: {
      ...pod.spec,
      priority,
      containers: [{ ...first, name: 'main', resources: { requests } }, ...others],
    },
  };
}

function requesting(pod: Pod, { gpus, scratch, near, overhead, rack }: Drawn<typeof arbRequests>): Pod {
  const [first, ...others] = pod.spec?.containers ?? [{ name: 'main' }];
  const requests = {
    ...first?.resources?.requests,
    ...(gpus && { [gpu]: gpus }),
    ...(scratch && { 'ephemeral-storage': scratch }),
  };
  const term = { topologyKey: hostname, labelSelector: { matchLabels: { app: near ?? '' } } };
  return {
    ...pod,
    spec: {
      ...pod.spec,
      containers: [{ ...first, name: 'main', resources: { requests } }, ...others],
      ...(overhead && { overhead: { cpu: overhead } }),
      ...(rack && { nodeSelector: { ...pod.spec?.nodeSelector, 'topology.example.com/rack': rack } }),
      ...(near && {
        affinity: {
          ...pod.spec?.affinity,
          podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] },
        },
      }),
    },
  };
}

function released(
  volume: PersistentVolume,
  { isReleased, policy }: Drawn<typeof arbVolumeTraits>,
): PersistentVolume {
  if (!isReleased) return volume;
  const claimRef = { namespace: 'other', name: 'gone', uid: 'uid-gone' };
  return {
    ...volume,
    spec: { ...volume.spec, claimRef, persistentVolumeReclaimPolicy: policy },
    status: { phase: 'Released' },
  };
}

/** An API server rejects a claim without access modes, and the text of a remedy can't express a volume without any. */
function withMode(claim: PersistentVolumeClaim): PersistentVolumeClaim {
  const hasMode = (claim.spec?.accessModes ?? []).length > 0;
  return hasMode ? claim : { ...claim, spec: { ...claim.spec, accessModes: ['ReadWriteOnce'] } };
}

export const arbRichCluster: fc.Arbitrary<FullCluster> = fc
  .record({
    cluster: arbFullCluster,
    nodes: fc.array(arbNodeTraits, { minLength: 5, maxLength: 5 }),
    pods: fc.array(arbPodTraits, { minLength: 3, maxLength: 3 }),
    volumes: fc.array(arbVolumeTraits, { minLength: 4, maxLength: 4 }),
    requested: arbRequests,
  })
  .map(({ cluster: { objects, pod }, nodes, pods, volumes, requested }) => ({
    objects: {
      ...objects,
      Node: (objects.Node ?? []).map((node, at) => nodeWith(node, nodes[at % nodes.length]!)),
      Pod: (objects.Pod ?? []).map((other, at) => existing(other, pods[at % pods.length]!)),
      PersistentVolumeClaim: (objects.PersistentVolumeClaim ?? []).map(withMode),
      PersistentVolume: (objects.PersistentVolume ?? []).map((volume, at) =>
        released(volume, volumes[at % volumes.length]!),
      ),
    },
    pod: requesting(pod, requested),
  }));
