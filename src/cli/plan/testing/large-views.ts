import {
  csiDriver,
  drive,
  driveNode,
  storageCapacity,
  storageClass,
  zone,
} from '../../../engine/testing/objects.ts';
import type { Pod } from '../../../kube/api/core.ts';
import { nodeWith, parallelSet, podWith, viewOf } from '../../../queries/testing/cluster-views.ts';
import type { ClusterView } from '../../../queries/view/cluster-view.ts';

const names = Array.from({ length: 5_000 }, (_, at) => `node-${String(at + 1).padStart(4, '0')}`);

/** Ten of 5,000 nodes have free capacity; the first one runs 60 pods of a ReplicaSet, and a StatefulSet has two members. */
export function fullCluster(): ClusterView {
  const template = { spec: { containers: [{ name: 'main', resources: { requests: { cpu: '1' } } }] } };
  const owned = (pod: Pod): Pod => ({
    ...pod,
    metadata: {
      ...pod.metadata,
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'uid-web', controller: true },
      ],
    },
  });
  return viewOf({
    Node: names.map((name, at) => nodeWith(name, at === 0 ? '64' : at <= 10 ? '4' : '1')),
    ReplicaSet: [
      {
        metadata: { namespace: 'default', name: 'web', uid: 'uid-web' },
        spec: { replicas: 60, selector: { matchLabels: { app: 'web' } }, template },
      },
    ],
    StatefulSet: [parallelSet(0, template)],
    Pod: [
      ...names.slice(11).map((name, at) => podWith(`busy-${at}`, '1', [], name)),
      ...Array.from({ length: 60 }, (_, at) => owned(podWith(`web-${at}`, '1', [], names[0]))),
    ],
  });
}

/** 5,000 nodes with a drive each and in three zones with a pool each. */
export function storageOf5000Nodes(): ClusterView {
  const driver = 'pools.example.com';
  return viewOf({
    Node: names.map((name, at) => {
      const { metadata } = driveNode(name);
      return nodeWith(name, '8', { ...metadata?.labels, [zone]: `zone-${at % 3}` });
    }),
    StorageClass: [
      storageClass('drives', { provisioner: 'drives.stowage.dev' }),
      storageClass('pools', { provisioner: driver }),
    ],
    CSIDriver: [csiDriver(driver), csiDriver('drives.stowage.dev')],
    CSIStorageCapacity: [0, 1, 2].map((at) =>
      storageCapacity(`pool-${at}`, 'pools', {
        capacity: `${(at + 1) * 500}Gi`,
        nodeTopology: { matchLabels: { [zone]: `zone-${at}` } },
      }),
    ),
    Drive: names.map((name, at) => drive(`${name}-drive`, at % 50 === 0 ? 100 : 5, { node: name })),
  });
}
