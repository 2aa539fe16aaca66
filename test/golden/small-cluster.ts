import type { Cluster } from '../../src/cluster/cluster.ts';
import type { KubeObject } from '../../src/kube/api/meta.ts';
import type { Resource } from '../../src/kube/resource.ts';
import {
  csiDrivers,
  csiStorageCapacities,
  deployments,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  replicaSets,
  serviceAccounts,
  statefulSets,
  storageClasses,
} from '../../src/kube/resources.ts';
import { backingImages } from '../../src/kube/stowage/backing-image.ts';
import { diskSchedules } from '../../src/kube/stowage/disk-schedule.ts';
import { driveNodeKey, drives, drivesDriver } from '../../src/kube/stowage/drive.ts';
import { replicas } from '../../src/kube/stowage/replica.ts';
import { storageNodes } from '../../src/kube/stowage/storage-node.ts';
import { diskVolumes } from '../../src/kube/stowage/volume.ts';

const gib = 2 ** 30;

/** Names as clouds and controllers make them: long, and different only at the end. */
export const nodeNames = ['a', 'b', 'c'].map((end) => `ip-10-0-12-3${end}.eu-central-1.compute.internal`);
const [first, second, third] = nodeNames as [string, string, string];
export const driveName = `${first.slice(0, 12)}-b7f6c1de`;
export const otherDriveName = `${first.slice(0, 12)}-e03f9a52`;
const uuidOf = (digit: number) => `${String(digit).repeat(8)}-bbbb-4ccc-8ddd-eeeeeeeeeeee`;
const claimUid = (name: string) => `pvc-2f6f1dbc-c922-4341-8789-${name}`;

/**
 * Three nodes with a StatefulSet on local disks whose second pod fits nowhere, a Deployment, pools of a CSI driver, two drives, two disks with a
 * volume that moves, and an image.
 */
export async function seedSmallCluster(cluster: Cluster): Promise<void> {
  for (const [resource, objects] of seeds())
    for (const object of objects) await store(cluster, resource, object);
}

/** Creates it, and then writes its status, which a creation ignores. */
async function store(cluster: Cluster, resource: Resource, object: Seed): Promise<void> {
  const client = cluster.resource(resource);
  const created = await client.create(object);
  if (object.status !== undefined)
    await client.update({ ...created, status: object.status } as KubeObject, { subresource: 'status' });
}

type Seed = KubeObject & { readonly spec?: unknown; readonly status?: unknown };

function seeds(): readonly (readonly [Resource, readonly Seed[]])[] {
  return [
    [nodes as Resource, nodeNames.map(node)],
    [serviceAccounts as Resource, [{ metadata: { namespace: 'default', name: 'default' } }]],
    [
      storageClasses as Resource,
      [
        storageClass('local-ssd-delayed', 'kubernetes.io/no-provisioner'),
        storageClass('replicated-fast', 'csi.storage.example.com'),
        storageClass('stowage-drives', drivesDriver),
      ] as readonly Seed[],
    ],
    [
      csiDrivers as Resource,
      [{ metadata: { name: 'csi.storage.example.com' }, spec: { storageCapacity: true } }],
    ],
    [csiStorageCapacities as Resource, nodeNames.slice(0, 2).map(pool)],
    [
      persistentVolumes as Resource,
      [volume('local-pv-7f3a91c2', first, 'data-orders-db-0'), volume('local-pv-0c55d1e8', second)],
    ],
    [
      persistentVolumeClaims as Resource,
      [claim('data-orders-db-0', '10Gi', 'local-pv-7f3a91c2'), claim('data-orders-db-1', '500Gi')],
    ],
    [statefulSets as Resource, [statefulSet]],
    [deployments as Resource, [deployment]],
    [replicaSets as Resource, [replicaSet]],
    [
      pods as Resource,
      [
        pod('orders-db-0', { node: first, claim: 'data-orders-db-0', owner: 'StatefulSet' }),
        pod('orders-db-1', { claim: 'data-orders-db-1', owner: 'StatefulSet' }),
        pod('checkout-7d9f8b6c5d-x7k2p', { node: first, owner: 'ReplicaSet' }),
        pod('checkout-7d9f8b6c5d-q9w4z', { node: second, owner: 'ReplicaSet' }),
      ],
    ],
    [drives as Resource, [drive(driveName, [claimUid('555512b157a5')]), drive(otherDriveName, [])]],
    ...diskSeeds(),
  ];
}

function node(name: string): Seed {
  return {
    metadata: { name, labels: { 'kubernetes.io/hostname': name, [driveNodeKey]: name } },
    spec: {},
    status: {
      allocatable: { cpu: '4', memory: '16Gi', pods: '110' },
      conditions: [{ type: 'Ready', status: 'True' }],
    },
  } as Seed;
}

function storageClass(name: string, provisioner: string): Seed {
  return { metadata: { name }, provisioner, volumeBindingMode: 'WaitForFirstConsumer' } as Seed;
}

function pool(name: string, at: number): Seed {
  return {
    metadata: { namespace: 'kube-system', name: `csisc-${at}8x2v` },
    storageClassName: 'replicated-fast',
    capacity: '200Gi',
    nodeTopology: { matchLabels: { 'kubernetes.io/hostname': name } },
  } as Seed;
}

function volume(name: string, nodeName: string, claimName?: string): Seed {
  const term = { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [nodeName] }] };
  return {
    metadata: { name },
    spec: {
      capacity: { storage: '40Gi' },
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'local-ssd-delayed',
      persistentVolumeReclaimPolicy: 'Retain',
      local: { path: `/mnt/${name}` },
      nodeAffinity: { required: { nodeSelectorTerms: [term] } },
      ...(claimName !== undefined && { claimRef: { namespace: 'default', name: claimName } }),
    },
    status: { phase: claimName === undefined ? 'Available' : 'Bound' },
  };
}

function claim(name: string, storage: string, volumeName?: string): Seed {
  return {
    metadata: {
      namespace: 'default',
      name,
      ...(volumeName !== undefined && { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } }),
    },
    spec: {
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'local-ssd-delayed',
      resources: { requests: { storage } },
      ...(volumeName !== undefined && { volumeName }),
    },
    status: { phase: volumeName === undefined ? 'Pending' : 'Bound' },
  };
}

const containers = [
  { name: 'main', image: 'registry.example.com/app:1', resources: { requests: { cpu: '500m' } } },
];
const labels = { app: 'orders' };
const template = { metadata: { labels }, spec: { containers } };

const statefulSet: Seed = {
  metadata: { namespace: 'default', name: 'orders-db' },
  spec: { replicas: 3, serviceName: 'orders-db', selector: { matchLabels: labels }, template },
};
const deployment: Seed = {
  metadata: { namespace: 'default', name: 'checkout' },
  spec: { replicas: 2, selector: { matchLabels: labels }, template },
};
const replicaSet: Seed = {
  metadata: { namespace: 'default', name: 'checkout-7d9f8b6c5d' },
  spec: { replicas: 2, selector: { matchLabels: labels }, template },
};

interface PodPlace {
  readonly node?: string;
  readonly claim?: string;
  readonly owner: 'StatefulSet' | 'ReplicaSet';
}

function pod(name: string, { node: nodeName, claim: claimName, owner }: PodPlace): Seed {
  const ownerName = owner === 'StatefulSet' ? 'orders-db' : 'checkout-7d9f8b6c5d';
  return {
    metadata: {
      namespace: 'default',
      name,
      labels,
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: owner, name: ownerName, uid: ownerName, controller: true },
      ],
    },
    spec: {
      schedulerName: 'stowage',
      containers,
      ...(nodeName !== undefined && { nodeName }),
      ...(claimName !== undefined && {
        volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }],
      }),
    },
    status: { phase: nodeName === undefined ? 'Pending' : 'Running' },
  };
}

function drive(name: string, volumes: readonly string[]): Seed {
  return {
    metadata: { name, labels: { rack: 'r12' } },
    spec: {
      nodeName: first,
      filesystemUUID: `${name.slice(-8)}-4a2e-4c6f-9d0b-5d8f3a1c2e77`,
      accessTier: 'Hot',
      volumes: volumes.map((one) => ({ name: one, sizeBytes: 60 * gib })),
    },
    status: {
      state: 'Ready',
      capacityBytes: 100 * gib,
      device: { path: '/dev/nvme1n1', make: 'Example NVMe' },
    },
  };
}

function diskSeeds(): readonly (readonly [Resource, readonly Seed[]])[] {
  const replica = (name: string, nodeID: string, digit: number, healthyAt?: string): Seed => ({
    metadata: { name },
    spec: {
      volumeName: 'orders',
      volumeSize: 50 * gib,
      nodeID,
      diskID: uuidOf(digit),
      desiredState: 'running',
    },
    status: {
      currentState: healthyAt === undefined ? 'starting' : 'running',
      ...(healthyAt && { healthyAt }),
    },
  });
  const schedule = (digit: number, nodeID: string, held: readonly string[]): Seed => ({
    metadata: { name: uuidOf(digit) },
    spec: { nodeID, name: 'ssd', replicas: Object.fromEntries(held.map((name) => [name, 50 * gib])) },
    status: {
      observedGeneration: 1,
      storageLimit: 100 * gib,
      storageScheduled: 50 * gib * held.length,
      replicas: Object.fromEntries(
        held.map((name) => [name, { state: 'scheduled', observedSize: 50 * gib, scheduledSize: 50 * gib }]),
      ),
    },
  });
  const storageNode = (name: string, digit: number): Seed => ({
    metadata: { name },
    spec: { disks: { ssd: { path: '/var/lib/stowage/disks/ssd', tags: ['fast'] } } },
    status: {
      zone: 'eu-central-1a',
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'Ready',
          message: '',
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
      ],
      diskStatus: {
        ssd: { diskUUID: uuidOf(digit), storageMaximum: 100 * gib, storageAvailable: 100 * gib },
      },
    },
  });
  return [
    [storageNodes as Resource, [storageNode(first, 1), storageNode(third, 3)]],
    [
      diskVolumes as Resource,
      [{ metadata: { name: 'orders' }, spec: { size: 50 * gib, numberOfReplicas: 2 } } as Seed],
    ],
    [
      replicas as Resource,
      [replica('orders-r0', first, 1, '2026-01-01T00:00:00Z'), replica('orders-r1', third, 3)],
    ],
    [diskSchedules as Resource, [schedule(1, first, ['orders-r0']), schedule(3, third, ['orders-r1'])]],
    [
      backingImages as Resource,
      [
        {
          metadata: { name: 'ubuntu' },
          spec: { source: { download: { url: 'https://images.example.com/ubuntu-24.04-server.img' } } },
        } as Seed,
      ],
    ],
  ];
}
