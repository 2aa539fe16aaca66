import type { BackingImage } from '../../../kube/stowage/backing-image.ts';
import type { DiskSchedule } from '../../../kube/stowage/disk-schedule.ts';
import type { Replica } from '../../../kube/stowage/replica.ts';
import type { StorageNode } from '../../../kube/stowage/storage-node.ts';
import type { DiskVolume } from '../../../kube/stowage/volume.ts';
import type { DiskObjects } from '../../../queries/disks/disk-objects.ts';

const gib = 2 ** 30;

/** A UUID that begins with these eight digits. */
export function uuidOf(digits: string): string {
  return `${digits}-bbbb-4ccc-8ddd-eeeeeeeeeeee`;
}

const [ssd, hdd, lost, full, old] = ['aaaaaaaa', 'bbbbbbbb', 'cccccccc', 'dddddddd', 'eeeeeeee'].map(
  uuidOf,
) as [string, string, string, string, string];

const nodes: readonly StorageNode[] = [
  {
    metadata: { name: 'n1' },
    spec: {
      tags: ['rack-1'],
      disks: {
        ssd: { path: '/disks/ssd', tags: ['fast'], storageReserved: 10 * gib },
        hdd: {
          path: '/disks/hdd',
          allowScheduling: false,
          capacityPolicy: 'OverProvision',
          overProvisioningPercentage: 200,
        },
        new: { path: '/disks/new' },
      },
    },
    status: {
      zone: 'a',
      region: 'r1',
      upload: { url: 'https://10.0.0.1:8443', certificateSHA256: '00' },
      conditions: [{ type: 'Ready', status: 'True', reason: 'AgentReady' }],
      diskStatus: {
        ssd: { diskUUID: ssd, storageMaximum: 120 * gib, storageAvailable: 110 * gib },
        hdd: { diskUUID: hdd, storageMaximum: 100 * gib, storageAvailable: 90 * gib },
      },
    },
  },
  {
    metadata: { name: 'n2' },
    spec: { disks: { ssd: { path: '/disks/ssd', evictionRequested: true, allowScheduling: false } } },
    status: {
      zone: 'b',
      diskStatus: { ssd: { diskUUID: full, storageMaximum: 50 * gib, storageAvailable: 50 * gib } },
    },
  },
  {
    metadata: { name: 'n3' },
    spec: { disks: { ssd: { path: '/disks/ssd' } } },
    status: {
      conditions: [
        { type: 'Ready', status: 'False', reason: 'NoHeartbeat', message: 'the agent of n3 is silent' },
      ],
      diskStatus: { ssd: { diskUUID: lost, storageMaximum: 50 * gib, storageAvailable: 50 * gib } },
    },
  },
];

const granted = (size: number) => ({ state: 'scheduled', scheduledSize: size, observedSize: size }) as const;

const schedules: readonly DiskSchedule[] = [
  {
    metadata: { name: ssd },
    spec: {
      name: 'ssd',
      nodeID: 'n1',
      replicas: { 'db-r0': 50 * gib, 'big-r0': 80 * gib, 'new-r0': 5 * gib },
      backingImages: { ubuntu: 10 * gib },
    },
    status: {
      replicas: {
        'db-r0': granted(50 * gib),
        'big-r0': {
          state: 'rejected',
          scheduledSize: 0,
          observedSize: 80 * gib,
          reason: 'InsufficientStorage',
        },
      },
      backingImages: { ubuntu: granted(10 * gib) },
    },
  },
  { metadata: { name: hdd }, spec: { name: 'hdd', nodeID: 'n1' }, status: {} },
  {
    metadata: { name: full },
    spec: { name: 'ssd', nodeID: 'n2', replicas: { 'db-r1': 50 * gib, 'stuck-r0': 20 * gib } },
    status: { replicas: { 'db-r1': granted(50 * gib), 'stuck-r0': granted(20 * gib) } },
  },
  { metadata: { name: lost }, spec: { name: 'ssd', nodeID: 'n3' }, status: {} },
  {
    metadata: { name: old },
    spec: { name: 'gone', nodeID: 'n3' },
    status: { replicas: { 'ghost-r0': granted(gib) } },
  },
];

function volume(name: string, size: number, numberOfReplicas: number, rest: Partial<DiskVolume>): DiskVolume {
  return { metadata: { name }, spec: { size, numberOfReplicas, ...rest.spec }, status: { ...rest.status } };
}

function allocation(status: 'True' | 'False', reason: string, message = '') {
  return { conditions: [{ type: 'DiskAllocation', status, reason, message }] };
}

const volumes: readonly DiskVolume[] = [
  volume('db', 60 * gib, 2, {
    spec: { backingImage: 'ubuntu', diskSelector: ['fast'] },
    status: {
      size: 50 * gib,
      refusedExpansion: {
        size: 60 * gib,
        diskID: full,
        message: 'expansion to 60Gi: disk ssd on node n2: 0 bytes free, 10Gi more requested: 10Gi missing',
        time: '2026-01-01T10:00:00Z',
      },
      conditions: [
        ...allocation(
          'False',
          'ExpansionRejected',
          'expansion to 64424509440 bytes: disk ssd on node n2 lacks 10737418240',
        ).conditions,
        { type: 'BackingImageReady', status: 'False', message: 'replica db-r2 waits for a copy' },
      ],
    },
  }),
  volume('big', 80 * gib, 1, {
    status: allocation(
      'False',
      'InsufficientStorage',
      'replica big-r0: the only disk is ssd on node n1: 40 GiB missing',
    ),
  }),
  volume('new', 5 * gib, 1, {}),
  volume('stuck', 20 * gib, 1, {
    status: {
      size: 20 * gib,
      ...allocation('False', 'InsufficientStorage', 'replica stuck-r1: none of 3 disks fits'),
    },
  }),
];

function replica(
  name: string,
  volumeName: string,
  place: [node: string, disk: string] | undefined,
  rest: Replica = {},
): Replica {
  return {
    metadata: { name, ...rest.metadata },
    spec: {
      volumeName,
      volumeSize: 50 * gib,
      ...(place && { nodeID: place[0], diskID: place[1] }),
      desiredState: 'running',
      ...rest.spec,
    },
    status: { ...rest.status },
  };
}

const healthy = { currentState: 'running', healthyAt: '2026-01-01T09:00:00Z', size: 50 * gib } as const;

const replicas: readonly Replica[] = [
  replica('db-r0', 'db', ['n1', ssd], { status: healthy }),
  replica('db-r1', 'db', ['n2', full], { status: healthy }),
  replica('db-r2', 'db', ['n1', hdd], {
    status: { currentState: 'starting', message: 'copied 20 of 50 GiB' },
  }),
  replica('big-r0', 'big', ['n1', ssd], { spec: { volumeSize: 80 * gib, desiredState: 'stopped' } }),
  replica('new-r0', 'new', ['n1', ssd], { spec: { volumeSize: 5 * gib, desiredState: 'stopped' } }),
  replica('stuck-r0', 'stuck', ['n2', full], { status: healthy }),
  replica('stuck-r1', 'stuck', undefined, { spec: { desiredState: 'stopped' } }),
];

const images: readonly BackingImage[] = [
  {
    metadata: { name: 'ubuntu' },
    spec: {
      source: { download: { url: 'https://user:secret@images.example.com/ubuntu.img' } },
      minNumberOfCopies: 2,
      expectedSize: 10 * gib,
      diskFileSpecMap: { [ssd]: {}, [lost]: {} },
    },
    status: {
      diskFileStatusMap: {
        [ssd]: { state: 'in-progress', progress: 40 },
        [lost]: { state: 'failed', message: 'connection refused' },
      },
      conditions: [
        { type: 'Ready', status: 'False', reason: 'NoCopyReady', message: 'no copy is ready yet' },
      ],
    },
  },
  {
    metadata: { name: 'alpine' },
    spec: { source: { upload: { tokenSHA256: 'x' } } },
    status: { size: 3 * gib, conditions: [{ type: 'Ready', status: 'True', reason: 'CopyReady' }] },
  },
];

/** Disks, volumes and images in every state. */
export const sampleObjects: DiskObjects = {
  nodes,
  schedules,
  settings: [{ metadata: { name: 'default' }, spec: { capacityPolicy: 'Available' } }],
  volumes,
  replicas,
  images,
  persistentVolumes: [
    {
      metadata: { name: 'db' },
      spec: {
        capacity: { storage: '50Gi' },
        accessModes: ['ReadWriteOnce'],
        csi: { driver: 'disks.stowage.dev', volumeHandle: 'db' },
        claimRef: { namespace: 'shop', name: 'data-db-0' },
      },
    },
  ],
  notes: [],
};
