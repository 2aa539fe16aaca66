/** The clusters for the engine benchmarks, the same in every run. */
import type { Node, PersistentVolume, PersistentVolumeClaim, Pod } from '../../src/kube/api/core.ts';
import type { CSIDriver, CSIStorageCapacity, StorageClass } from '../../src/kube/api/storage.ts';
import type { DriverCapacity } from '../../src/kube/stowage/driver-capacity.ts';

export const localClass: StorageClass = {
  metadata: { name: 'local', uid: 'class-local', resourceVersion: '1' },
  provisioner: 'kubernetes.io/no-provisioner',
  volumeBindingMode: 'WaitForFirstConsumer',
};

export const pooledClass: StorageClass = {
  metadata: { name: 'pooled', uid: 'class-pooled', resourceVersion: '1' },
  provisioner: 'pools.example.com',
  volumeBindingMode: 'WaitForFirstConsumer',
};

export const pooledDriver: CSIDriver = {
  metadata: { name: 'pools.example.com', uid: 'driver-pools', resourceVersion: '1' },
  spec: { storageCapacity: true },
};

const hostname = 'kubernetes.io/hostname';

export function nodes(count: number): Node[] {
  return Array.from({ length: count }, (_, position) => ({
    metadata: {
      name: `node-${position}`,
      uid: `node-uid-${position}`,
      resourceVersion: '1',
      labels: {
        [hostname]: `node-${position}`,
        'topology.kubernetes.io/zone': `zone-${position % 3}`,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
      },
    },
    status: { allocatable: { cpu: '64', memory: '256Gi', pods: '1000' } },
  }));
}

export function localVolume(position: number, nodeCount: number, version: string): PersistentVolume {
  return {
    metadata: {
      name: `disk-${position}`,
      uid: `disk-uid-${position}`,
      resourceVersion: version,
      labels: { media: position % 4 === 0 ? 'ssd' : 'hdd' },
    },
    spec: {
      capacity: { storage: `${10 + ((position * 7 + Math.floor(position / nodeCount) * 13) % 90)}Gi` },
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'local',
      local: { path: `/mnt/disks/${position}` },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            {
              matchExpressions: [{ key: hostname, operator: 'In', values: [`node-${position % nodeCount}`] }],
            },
          ],
        },
      },
    },
    status: { phase: 'Available' },
  };
}

/** One capacity object per node, as node-local drivers publish them. */
export function capacities(nodeCount: number): CSIStorageCapacity[] {
  return Array.from({ length: nodeCount }, (_, position) =>
    capacityOf(position, '1', 500 + (position % 500)),
  );
}

/** A new version of the object of one node, with a little less. */
export function updatedCapacity(nodeCount: number, update: number): CSIStorageCapacity {
  const turn = Math.floor(update / nodeCount) + 1;
  return capacityOf(update % nodeCount, String(update + 2), 499 - (turn % 50));
}

function capacityOf(position: number, resourceVersion: string, gib: number): CSIStorageCapacity {
  return {
    metadata: {
      namespace: 'pools',
      name: `pool-${position}`,
      uid: `pool-uid-${position}`,
      resourceVersion,
    },
    storageClassName: 'pooled',
    nodeTopology: { matchLabels: { [hostname]: `node-${position}` } },
    capacity: `${gib}Gi`,
    maximumVolumeSize: '400Gi',
  };
}

/** The pools of one driver, one for each node, in as many DriverCapacity objects as there are shards. */
export function poolObjects(poolCount: number, shards: number): DriverCapacity[] {
  return Array.from({ length: shards }, (_, shard) => poolObject(poolCount, { shards, shard, update: 0 }));
}

/** The object with the pool that the update changes: it shrinks a little. */
export function updatedPoolObject(poolCount: number, shards: number, update: number): DriverCapacity {
  return poolObject(poolCount, { shards, shard: update % shards, update: update + 1 });
}

function poolObject(
  poolCount: number,
  { shards, shard, update }: { readonly shards: number; readonly shard: number; readonly update: number },
): DriverCapacity {
  const each = poolCount / shards;
  const pools = Array.from({ length: each }, (_, offset) => {
    const position = shard * each + offset;
    const isUpdated = update > 0 && (update - 1) % each === offset;
    const capacity = isUpdated ? `${499 * 1024 - update}Mi` : `${500 + (position % 500)}Gi`;
    return { name: `pool-${position}`, nodeList: [`node-${position}`], capacity };
  });
  return {
    metadata: { name: `shard-${shard}`, uid: `shard-uid-${shard}`, resourceVersion: String(update + 1) },
    spec: { driver: pooledClass.provisioner!, capacityTracking: true },
    status: { storage: [{ storageClassName: 'pooled', pools }] },
  };
}

export interface PodWithClaims {
  readonly pod: Pod;
  readonly claims: readonly PersistentVolumeClaim[];
}

/** Pods with 1 to `claimCount` claims of one class, of 15 to 54 GiB. */
export function podWithClaims(position: number, claimCount: number, className: string): PodWithClaims {
  const claims = Array.from({ length: claimCount }, (_, number) => ({
    metadata: {
      namespace: 'default',
      name: `claim-${position}-${number}`,
      uid: `claim-uid-${position}-${number}`,
      resourceVersion: '1',
    },
    spec: {
      accessModes: ['ReadWriteOnce' as const],
      storageClassName: className,
      resources: { requests: { storage: `${15 + ((position * 11 + number * 5) % 40)}Gi` } },
    },
  }));
  const volumes = claims.map(({ metadata }) => ({
    name: metadata.name,
    persistentVolumeClaim: { claimName: metadata.name },
  }));
  const metadata = {
    namespace: 'default',
    name: `pod-${position}`,
    uid: `pod-uid-${position}`,
    resourceVersion: '1',
  };
  return { pod: { metadata, spec: { volumes } }, claims };
}
