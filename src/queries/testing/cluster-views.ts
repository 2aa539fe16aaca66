import type { IndexedKind } from '../../engine/cluster-index/cluster-change.ts';
import type { ObjectOf } from '../../engine/cluster-index/read-object.ts';
import {
  claim,
  csiDriver,
  localVolume,
  node,
  pod,
  storageCapacity,
  storageClass,
} from '../../engine/testing/objects.ts';
import type { StatefulSet } from '../../kube/api/apps.ts';
import type { PersistentVolumeClaimSpec, Pod, PodTemplateSpec } from '../../kube/api/core.ts';
import { ClusterSnapshot } from '../../state/cluster-snapshot.ts';
import type { ClusterView } from '../view/cluster-view.ts';

type Objects = { readonly [K in IndexedKind]?: readonly ObjectOf[K][] };

/** A view of these objects, complete by default. */
export function viewOf(objects: Objects, rest: Partial<ClusterView> = {}): ClusterView {
  const snapshot = new ClusterSnapshot();
  for (const kind of Object.keys(objects) as IndexedKind[]) {
    for (const object of objects[kind] ?? []) snapshot.add(kind, object as never);
  }
  return { snapshot, events: [], notes: [], seesNodes: true, ...rest };
}

/** A node with so many cores. */
export function nodeWith(name: string, cpu: string, labels: Record<string, string> = {}): ObjectOf['Node'] {
  return { ...node(name, labels), status: { allocatable: { cpu, memory: '16Gi', pods: '110' } } };
}

/** A pod that asks for so many cores; on a node if one is named. */
export function podWith(name: string, cpu: string, claims: readonly string[] = [], nodeName?: string): Pod {
  const plain = pod(name, claims, nodeName === undefined ? {} : { nodeName });
  return {
    ...plain,
    spec: { ...plain.spec, containers: [{ name: 'main', resources: { requests: { cpu } } }] },
  };
}

/** Three nodes, each with trouble of its own: a volume that is too small, too little cpu, a taint. */
export function threeNodes(): ClusterView {
  const tainted = nodeWith('n3', '8');
  return viewOf({
    Node: [
      nodeWith('n1', '4'),
      nodeWith('n2', '2'),
      { ...tainted, spec: { taints: [{ key: 'dedicated', value: 'db', effect: 'NoSchedule' }] } },
    ],
    StorageClass: [storageClass('local')],
    PersistentVolume: [localVolume('pv-7', '40Gi', 'n1')],
    PersistentVolumeClaim: [claim('data', '50Gi')],
    Pod: [podWith('other', '1', [], 'n1'), podWith('db-0', '3', ['data'])],
  });
}

/** A thousand full nodes, two of them cordoned. */
export function thousandNodes(): ClusterView {
  const names = Array.from({ length: 1_000 }, (_, at) => `node-${String(at + 1).padStart(4, '0')}`);
  return viewOf({
    Node: names.map((name, at) => ({
      ...nodeWith(name, '4'),
      ...(at < 2 && { spec: { unschedulable: true } }),
    })),
    Pod: [
      ...names.map((name, at) => podWith(`busy-${at}`, `${900 + (at % 20) * 100}m`, [], name)),
      podWith('big', '4'),
    ],
  });
}

/** A class with a pool in each of two zones, of which one has been promised to another claim. */
export function twoPools(): ClusterView {
  const zoned = (name: string, zone: string) => nodeWith(name, '4', { zone });
  const pool = (zone: string, free: string) =>
    storageCapacity(`zone-${zone}`, 'dyn', { capacity: free, nodeTopology: { matchLabels: { zone } } });
  const waiting = podWith('web', '1', ['logs']);
  return viewOf({
    Node: [zoned('a1', 'a'), zoned('b1', 'b')],
    CSIDriver: [csiDriver('csi.example.com')],
    StorageClass: [storageClass('dyn', { provisioner: 'csi.example.com' })],
    CSIStorageCapacity: [pool('a', '80Gi'), pool('b', '30Gi')],
    PersistentVolumeClaim: [
      claim('logs', '50Gi', { className: 'dyn' }),
      claim('taken', '60Gi', { className: 'dyn', selectedNode: 'a1' }),
    ],
    Pod: [{ ...waiting, spec: { ...waiting.spec, schedulerName: 'stowage' } }],
  });
}

/** The StatefulSet `db`, whose members are created in parallel and have a claim each, if `claim` is given. */
export function parallelSet(
  replicas: number,
  template: PodTemplateSpec,
  claim?: Pick<PersistentVolumeClaimSpec, 'storageClassName' | 'resources'>,
): StatefulSet {
  return {
    metadata: { namespace: 'default', name: 'db', uid: 'uid-db' },
    spec: {
      replicas,
      serviceName: 'db',
      podManagementPolicy: 'Parallel',
      selector: { matchLabels: { app: 'db' } },
      template,
      ...(claim && {
        volumeClaimTemplates: [
          { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], ...claim } },
        ],
      }),
    },
  };
}
