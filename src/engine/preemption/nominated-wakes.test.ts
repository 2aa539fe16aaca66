/** Pods that wait because of nominated pods: a change wakes them when a nominated pod is bound or deleted. */
import { expect, test } from 'vitest';
import type { Pod, PodSpec } from '../../kube/api/core.ts';
import { readPod } from '../records/pod-record.ts';
import { type ClusterObjects, clusterOf } from '../testing/cluster.ts';
import {
  atVersion,
  boundClaim,
  byName,
  claim,
  csiDriver,
  csiNode,
  driverCapacity,
  hostname,
  inlineVolume,
  node,
  pod,
  pool,
  storageCapacity,
  storageClass,
  volume,
} from '../testing/objects.ts';
import { planWithNominated } from './plan-with-nominated.ts';

interface Case {
  readonly name: string;
  /** The objects besides two nodes. */
  readonly cluster?: ClusterObjects;
  readonly asking: Pod;
  /** Nominated to `n1`. */
  readonly rival: Pod;
  /** The event of the nominated pod. */
  readonly happens: 'comes' | 'goes';
}

const app = (name: string) => ({ matchLabels: { app: name } });

function podWith(name: string, rest: PodSpec, labels: Record<string, string> = {}): Pod {
  const base = pod(name, []);
  return { ...base, metadata: { ...base.metadata, labels }, spec: { ...base.spec, ...rest } };
}

function using(name: string, claimName: string, rest: PodSpec = {}): Pod {
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName } }];
  return podWith(name, { ...rest, volumes });
}

/** Restricts the pod to this node. */
const at = (name: string): PodSpec => ({ nodeSelector: { [hostname]: name } });

const near: PodSpec = {
  affinity: {
    podAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { labelSelector: app('leader'), topologyKey: hostname },
      ],
    },
  },
};

const spread: PodSpec = {
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: hostname,
      whenUnsatisfiable: 'DoNotSchedule',
      nodeAffinityPolicy: 'Ignore',
      labelSelector: app('web'),
    },
  ],
};

const disk = { volumes: [{ name: 'disk', gcePersistentDisk: { pdName: 'disk' } }] };
const handled = (name: string) =>
  volume(name, '5Gi', { spec: { csi: { driver: 'd1', volumeHandle: name } } });

const scratch = { volumes: [inlineVolume('scratch', 'd1', '5Gi')] };
const scratchCapacity = driverCapacity('d1', [
  { storageClassName: '<ephemeral>', pools: [pool('n1', '5Gi', { nodeList: ['n1'] })] },
]);

const cases: readonly Case[] = [
  {
    name: 'a pod with affinity to it, when it is bound',
    asking: podWith('p', near),
    rival: podWith('rival', {}, { app: 'leader' }),
    happens: 'comes',
  },
  {
    name: 'a pod with a spread constraint, when it is bound',
    cluster: { Pod: [{ ...podWith('old', { nodeName: 'n2' }, { app: 'web' }) }] },
    asking: podWith('p', { ...spread, ...at('n2') }, { app: 'web' }),
    rival: podWith('rival', {}, { app: 'web' }),
    happens: 'comes',
  },
  {
    name: 'a pod with the same ReadWriteOncePod claim, when it is deleted',
    cluster: {
      PersistentVolume: [volume('v1', '5Gi', { phase: 'Bound' })],
      PersistentVolumeClaim: [boundClaim('c1', '5Gi', 'v1', { spec: { accessModes: ['ReadWriteOncePod'] } })],
    },
    asking: using('p', 'c1', at('n1')),
    rival: using('rival', 'c1'),
    happens: 'goes',
  },
  {
    name: 'a pod with the same disk, when it is deleted',
    asking: podWith('p', { ...disk, ...at('n1') }),
    rival: podWith('rival', disk),
    happens: 'goes',
  },
  {
    name: 'a pod that needs its attach slot, when it is deleted',
    cluster: {
      CSINode: [csiNode('n1', { d1: 1 })],
      PersistentVolume: [handled('v1'), handled('v2')],
      PersistentVolumeClaim: [boundClaim('c1', '5Gi', 'v1'), boundClaim('c2', '5Gi', 'v2')],
    },
    asking: using('p', 'c1', at('n1')),
    rival: using('rival', 'c2'),
    happens: 'goes',
  },
  {
    name: 'a pod that needs the bytes of its inline volume, when it is deleted',
    cluster: { DriverCapacity: [scratchCapacity] },
    asking: podWith('p', { ...scratch, ...at('n1') }),
    rival: podWith('rival', scratch),
    happens: 'goes',
  },
  {
    name: 'a pod that needs the bytes of its claim, when it is deleted',
    cluster: {
      StorageClass: [storageClass('pools', { provisioner: 'd1' })],
      CSIDriver: [csiDriver('d1')],
      CSIStorageCapacity: [storageCapacity('pool', 'pools', { capacity: '5Gi' })],
      PersistentVolumeClaim: ['c1', 'c2'].map((name) => claim(name, '5Gi', { className: 'pools' })),
    },
    asking: using('p', 'c1', at('n1')),
    rival: using('rival', 'c2'),
    happens: 'goes',
  },
];

test.each(byName(cases))('%s', (_, { cluster = {}, asking, rival, happens }) => {
  const index = clusterOf({ Node: [node('n1'), node('n2')], ...cluster });
  const nominated: Pod = { ...rival, status: { nominatedNodeName: 'n1' } };
  index.upsert('Pod', nominated);
  const refusal = planWithNominated(asking, index, { nowMs: 0, nominated: [readPod(nominated)] });
  const bound = atVersion('2', { ...nominated, spec: { ...rival.spec, nodeName: 'n1' } });
  const { change } =
    happens === 'comes' ? index.upsert('Pod', bound) : index.remove('Pod', `default/${rival.metadata?.name}`);
  expect(refusal.kind === 'refusal' && refusal.wokenBy(change!)).toBe(true);
  expect(refusal.kind === 'refusal' && refusal.waker.isStaleBy(change!)).toBe(true);
  expect(planWithNominated(asking, index, { nowMs: 0, nominated: [] }).kind).toBe('placement');
});
