import { boundClaim, drive, driveNode, localVolume, storageClass } from '../../../engine/testing/objects.ts';
import type { Pod } from '../../../kube/api/core.ts';
import type { KubeObject } from '../../../kube/api/meta.ts';
import type { StorageNode } from '../../../kube/stowage/storage-node.ts';
import type { DiskObjects } from '../../../queries/disks/disk-objects.ts';
import { nodeWith, podWith, viewOf } from '../../../queries/testing/cluster-views.ts';
import type { ClusterView } from '../../../queries/view/cluster-view.ts';

const gib = 2 ** 30;

function member(pod: Pod, set: string): Pod {
  const owner = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    name: set,
    uid: `uid-${set}`,
    controller: true,
  };
  return { ...pod, metadata: { ...pod.metadata, labels: { app: set }, ownerReferences: [owner] } };
}

function budget(app: string, disruptionsAllowed: number): KubeObject {
  const spec = { selector: { matchLabels: { app } } };
  return {
    kind: 'PodDisruptionBudget',
    metadata: { namespace: 'default', name: app },
    ...{ spec, status: { disruptionsAllowed } },
  };
}

/** A StatefulSet with three pods on n1 that may go elsewhere, one on a local volume, a bare pod, a drive with a volume, and a budget. */
export function busyNode(): ClusterView {
  const set = (name: string, replicas: number) => ({
    metadata: { namespace: 'default', name, uid: `uid-${name}` },
    spec: {
      replicas,
      serviceName: name,
      podManagementPolicy: 'Parallel' as const,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: 'main', resources: { requests: { cpu: '100m' } } }] },
      },
    },
  });
  const bound = localVolume('n1-local', '40Gi', 'n1');
  const claimRef = { namespace: 'default', name: 'data', uid: 'uid-data' };
  const full = drive('d1', 100, { node: 'n1' });
  const onDrive = (claimName: string) => ({
    name: `pvc-${claimName}`,
    sizeBytes: 20 * gib,
    claimRef: { namespace: 'default', name: claimName, uid: `uid-${claimName}` },
  });
  return viewOf(
    {
      Node: [nodeWith('n1', '4'), nodeWith('n2', '4'), driveNode('n3')],
      StorageClass: [storageClass('local')],
      PersistentVolume: [
        { ...bound, spec: { ...bound.spec, claimRef }, status: { phase: 'Bound' } },
        localVolume('n2-local', '50Gi', 'n2'),
      ],
      PersistentVolumeClaim: [boundClaim('data', '40Gi', 'n1-local')],
      Drive: [{ ...full, spec: { ...full.spec, volumes: [onDrive('old')] } }],
      StatefulSet: [set('web', 3)],
      Pod: [
        member(podWith('web-0', '100m', [], 'n1'), 'web'),
        member(podWith('web-1', '100m', [], 'n1'), 'web'),
        member(podWith('web-2', '100m', [], 'n2'), 'web'),
        podWith('files', '100m', ['data'], 'n1'),
        podWith('shell', '100m', [], 'n1'),
      ],
    },
    { policies: [budget('web', 1)] },
  );
}

/** A drive with two volumes, another that has room for both, and a third that has room for one. */
export function roomyDrives(disruptionsAllowed = 3): ClusterView {
  const entry = (claimName: string, sizeGib: number) => ({
    name: `pvc-${claimName}`,
    sizeBytes: sizeGib * gib,
    claimRef: { namespace: 'default', name: claimName, uid: `uid-${claimName}` },
  });
  const withVolumes = (name: string, sizeGib: number, volumes: readonly ReturnType<typeof entry>[]) => {
    const empty = drive(name, sizeGib, { node: 'n1' });
    return { ...empty, spec: { ...empty.spec, volumes } };
  };
  return viewOf(
    {
      Node: [driveNode('n1')],
      StorageClass: [storageClass('drives', { provisioner: 'drives.stowage.dev' })],
      Drive: [
        withVolumes('d1', 100, [entry('data-db-0', 60), entry('data-db-1', 20)]),
        withVolumes('d2', 100, []),
        withVolumes('d3', 40, [entry('logs', 10)]),
      ],
      PersistentVolumeClaim: [
        boundClaim('data-db-0', '60Gi', 'pvc-data-db-0', { className: 'drives' }),
        boundClaim('data-db-1', '20Gi', 'pvc-data-db-1', { className: 'drives' }),
        boundClaim('logs', '10Gi', 'pvc-logs', { className: 'drives' }),
      ],
      Pod: [
        member(podWith('db-0', '0', ['data-db-0'], 'n1'), 'db'),
        member(podWith('db-1', '0', ['data-db-1'], 'n1'), 'db'),
        member(podWith('logger-0', '0', ['logs'], 'n1'), 'logger'),
      ],
    },
    { policies: [budget('db', disruptionsAllowed)] },
  );
}

/** Three nodes with a disk each; a volume with two replicas, one with one, and an image with a copy on n1. */
export function threeDisks(): DiskObjects {
  const uuid = (number: number) => `00000000-0000-4000-8000-00000000000${number}`;
  const node = (number: number, storageAvailable: number): StorageNode => ({
    metadata: { name: `n${number}` },
    spec: { disks: { d: { path: '/d' } } },
    status: {
      diskStatus: { d: { diskUUID: uuid(number), storageMaximum: 1000 * gib, storageAvailable } },
    },
  });
  const granted = (bytes: number) =>
    ({ state: 'scheduled', scheduledSize: bytes, observedSize: bytes }) as const;
  const schedule = (
    number: number,
    replicas: Record<string, number>,
    images: Record<string, number> = {},
  ) => ({
    metadata: { name: uuid(number) },
    spec: { name: 'd', nodeID: `n${number}`, replicas, backingImages: images },
    status: {
      replicas: Object.fromEntries(Object.entries(replicas).map(([name, bytes]) => [name, granted(bytes)])),
      backingImages: Object.fromEntries(
        Object.entries(images).map(([name, bytes]) => [name, granted(bytes)]),
      ),
    },
  });
  const replica = (name: string, volumeName: string, number: number, sizeGib: number) => ({
    metadata: { name },
    spec: {
      volumeName,
      volumeSize: sizeGib * gib,
      nodeID: `n${number}`,
      diskID: uuid(number),
      desiredState: 'running' as const,
    },
    status: { healthyAt: '2026-01-01T00:00:00Z' },
  });
  const volume = (name: string, sizeGib: number, numberOfReplicas: number) => ({
    metadata: { name },
    spec: { size: sizeGib * gib, numberOfReplicas },
    status: { size: sizeGib * gib },
  });
  return {
    nodes: [node(1, 200 * gib), node(2, 100 * gib), node(3, 60 * gib)],
    schedules: [
      schedule(1, { 'a-r0': 40 * gib, 'b-r0': 30 * gib, 'c-r0': 90 * gib }, { ubuntu: 2 * gib }),
      schedule(2, { 'a-r1': 40 * gib }),
      schedule(3, {}),
    ],
    settings: [],
    volumes: [volume('a', 40, 2), volume('b', 30, 1), volume('c', 90, 1)],
    replicas: [
      replica('a-r0', 'a', 1, 40),
      replica('a-r1', 'a', 2, 40),
      replica('b-r0', 'b', 1, 30),
      replica('c-r0', 'c', 1, 90),
    ],
    images: [
      {
        metadata: { name: 'ubuntu' },
        spec: { diskFileSpecMap: { [uuid(1)]: {} } },
        status: { size: 2 * gib, diskFileStatusMap: { [uuid(1)]: { state: 'ready' } } },
      },
    ],
    persistentVolumes: [
      {
        metadata: { name: 'pv-a' },
        spec: {
          csi: { driver: 'disks.stowage.dev', volumeHandle: 'a' },
          claimRef: { namespace: 'shop', name: 'orders' },
        },
      },
    ],
    notes: [],
  };
}

/** 5,000 nodes, some with a free local volume. On n1 are many pods, of which some use a volume of that node. */
export function largeCluster(): ClusterView {
  const names = Array.from({ length: 5_000 }, (_, at) => `n${at + 1}`);
  const pinned = Array.from({ length: 15 }, (_, at) => `data-${at}`);
  const bound = (claimName: string) => {
    const volume = localVolume(`n1-${claimName}`, '10Gi', 'n1');
    const claimRef = { namespace: 'default', name: claimName, uid: `uid-${claimName}` };
    return { ...volume, spec: { ...volume.spec, claimRef }, status: { phase: 'Bound' as const } };
  };
  return viewOf({
    Node: names.map((name) => nodeWith(name, '8')),
    StorageClass: [storageClass('local')],
    PersistentVolume: [
      ...names.slice(1, 20).map((name) => localVolume(`${name}-free`, '10Gi', name)),
      ...pinned.map(bound),
    ],
    PersistentVolumeClaim: pinned.map((name) => boundClaim(name, '10Gi', `n1-${name}`)),
    Pod: [
      ...Array.from({ length: 30 }, (_, at) => member(podWith(`web-${at}`, '100m', [], 'n1'), 'web')),
      ...pinned.map((name) => member(podWith(`db-${name}`, '100m', [name], 'n1'), 'db')),
    ],
  });
}
