import type { KubeObject } from '../../src/kube/api/meta.ts';

export interface LargeClusterSizes {
  readonly nodes: number;
  readonly volumes: number;
  readonly pods: number;
}

const zones = 5;
const racksPerZone = 10;

/**
 * A generated cluster: nodes in zones and racks, local volumes on them (three of four bound), pods that run, and some that wait for a volume that
 * nothing provides. With kind and version, as a file has them.
 */
export function* largeCluster({ nodes, volumes, pods }: LargeClusterSizes): Iterable<KubeObject> {
  yield { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'load' } };
  yield {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'local' },
    provisioner: 'kubernetes.io/no-provisioner',
    volumeBindingMode: 'WaitForFirstConsumer',
  } as KubeObject;
  for (let at = 0; at < nodes; at += 1) yield node(at);
  const bound = Math.floor((volumes * 3) / 4);
  for (let at = 0; at < volumes; at += 1) yield volume(at, nodeName(at % nodes), at < bound);
  for (let at = 0; at < bound; at += 1) yield claim(at, at < bound);
  for (let at = 0; at < pods; at += 1) yield pod(at, nodeName(at % nodes));
  for (let at = 0; at < waitingPods; at += 1) yield* waiting(at);
}

/** Pods that fit nowhere. */
export const waitingPods = 20;

function nodeName(at: number): string {
  return `node-${String(at).padStart(5, '0')}`;
}

function node(at: number): KubeObject {
  const zone = at % zones;
  const allocatable = { cpu: '32', memory: '128Gi', pods: '110' };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: nodeName(at),
      labels: {
        'kubernetes.io/hostname': nodeName(at),
        'topology.kubernetes.io/zone': `zone-${zone}`,
        'example.com/rack': `${zone}${Math.floor(at / zones) % racksPerZone}`,
      },
    },
    status: { allocatable, capacity: allocatable, conditions: [{ type: 'Ready', status: 'True' }] },
  } as KubeObject;
}

function volume(at: number, onNode: string, isBound: boolean): KubeObject {
  const name = `disk-${String(at).padStart(6, '0')}`;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name },
    spec: {
      capacity: { storage: `${100 + (at % 7) * 50}Gi` },
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'local',
      local: { path: `/mnt/${name}` },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [onNode] }] },
          ],
        },
      },
      ...(isBound && { claimRef: { namespace: 'load', name: `data-${at}`, uid: `claim-${at}` } }),
    },
    status: { phase: isBound ? 'Bound' : 'Available' },
  } as KubeObject;
}

function claim(at: number, isBound: boolean): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: `data-${at}`,
      namespace: 'load',
      uid: `claim-${at}`,
      annotations: isBound ? { 'pv.kubernetes.io/bind-completed': 'yes' } : {},
    },
    spec: {
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'local',
      resources: { requests: { storage: '100Gi' } },
      ...(isBound && { volumeName: `disk-${String(at).padStart(6, '0')}` }),
    },
    status: { phase: isBound ? 'Bound' : 'Pending' },
  } as KubeObject;
}

function pod(at: number, onNode: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `app-${String(at).padStart(5, '0')}`, namespace: 'load' },
    spec: {
      nodeName: onNode,
      schedulerName: 'stowage',
      containers: [{ name: 'main', image: 'app', resources: { requests: { cpu: '500m', memory: '1Gi' } } }],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: `data-${at}` } }],
    },
    status: { phase: 'Running' },
  } as KubeObject;
}

function* waiting(at: number): Iterable<KubeObject> {
  const name = `waiting-${at}`;
  const spec = {
    accessModes: ['ReadWriteOnce'],
    storageClassName: 'local',
    resources: { requests: { storage: '90Ti' } },
  };
  yield {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace: 'load' },
    spec,
  } as KubeObject;
  yield {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'load' },
    spec: {
      schedulerName: 'stowage',
      containers: [{ name: 'main', image: 'app' }],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: name } }],
    },
    status: { phase: 'Pending' },
  } as KubeObject;
}
