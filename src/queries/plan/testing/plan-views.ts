import { boundClaim, drive, driveNode, localVolume, storageClass } from '../../../engine/testing/objects.ts';
import type { Pod } from '../../../kube/api/core.ts';
import { nodeWith, parallelSet, podWith, viewOf } from '../../testing/cluster-views.ts';
import type { ClusterView } from '../../view/cluster-view.ts';

function owned(pod: Pod, kind: string, name: string): Pod {
  const owner = { apiVersion: 'apps/v1', kind, name, uid: `uid-${name}`, controller: true };
  return { ...pod, metadata: { ...pod.metadata, ownerReferences: [owner], generateName: `${name}-` } };
}

/** Three nodes with a database on local volumes, a web server, a bare pod and a DaemonSet. */
export function shop(): ClusterView {
  const template = {
    metadata: { labels: { app: 'db' } },
    spec: { containers: [{ name: 'main', resources: { requests: { cpu: '1' } } }] },
  };
  const bound = (volume: string, claimName: string) => {
    const { spec, ...rest } = localVolume(volume, '40Gi', volume.slice(0, 2));
    const claimRef = { namespace: 'default', name: claimName, uid: `uid-${claimName}` };
    return { ...rest, spec: { ...spec, claimRef }, status: { phase: 'Bound' as const } };
  };
  return viewOf({
    Node: [nodeWith('n1', '4'), nodeWith('n2', '4'), nodeWith('n3', '2')],
    StorageClass: [storageClass('local')],
    PersistentVolume: [
      bound('n1-a', 'data-db-0'),
      bound('n2-a', 'data-db-1'),
      localVolume('n3-a', '50Gi', 'n3'),
    ],
    PersistentVolumeClaim: [boundClaim('data-db-0', '40Gi', 'n1-a'), boundClaim('data-db-1', '40Gi', 'n2-a')],
    StatefulSet: [
      parallelSet(2, template, { storageClassName: 'local', resources: { requests: { storage: '40Gi' } } }),
    ],
    ReplicaSet: [
      {
        metadata: { namespace: 'default', name: 'web', uid: 'uid-web' },
        spec: { replicas: 2, selector: { matchLabels: { app: 'web' } }, template },
      },
    ],
    Pod: [
      owned(podWith('db-0', '1', ['data-db-0'], 'n1'), 'StatefulSet', 'db'),
      owned(podWith('db-1', '1', ['data-db-1'], 'n2'), 'StatefulSet', 'db'),
      owned(podWith('web-x7k2p', '1', [], 'n1'), 'ReplicaSet', 'web'),
      owned(podWith('web-b8m4q', '1', [], 'n2'), 'ReplicaSet', 'web'),
      owned(podWith('agent-5d2', '100m', [], 'n1'), 'DaemonSet', 'agent'),
      podWith('shell', '100m', [], 'n1'),
      podWith('batch', '3'),
    ],
  });
}

/** A node with two drives, one of them with volumes that the other has too little room for. */
export function twoDrives(): ClusterView {
  const volume = (claimName: string, sizeGib: number) => ({
    name: `pvc-uid-${claimName}`,
    sizeBytes: sizeGib * 2 ** 30,
    claimRef: { namespace: 'default', name: claimName, uid: `uid-${claimName}` },
  });
  const full = drive('d1', 100, { node: 'n1' });
  return viewOf({
    Node: [driveNode('n1')],
    StorageClass: [storageClass('drives', { provisioner: 'drives.stowage.dev' })],
    Drive: [
      { ...full, spec: { ...full.spec, volumes: [volume('large', 60), volume('small', 20)] } },
      drive('d2', 40, { node: 'n1' }),
    ],
    PersistentVolumeClaim: [
      boundClaim('large', '60Gi', 'pvc-uid-large', { className: 'drives' }),
      boundClaim('small', '20Gi', 'pvc-uid-small', { className: 'drives' }),
    ],
    Pod: [podWith('files', '0', ['large'], 'n1'), podWith('notes', '0', ['small'], 'n1')],
  });
}
