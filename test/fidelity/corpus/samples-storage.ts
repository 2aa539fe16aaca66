import type { Sample } from './lifecycle.ts';

const storage = 'storage.k8s.io/v1';

export const storageSamples: readonly Sample[] = [
  {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    plural: 'persistentvolumes',
    isClusterWide: true,
    minimal: {
      spec: { capacity: { storage: '1024Mi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/tmp/x' } },
    },
    rich: {
      spec: {
        capacity: { storage: '10Gi' },
        accessModes: ['ReadWriteOnce', 'ReadOnlyMany'],
        persistentVolumeReclaimPolicy: 'Delete',
        storageClassName: 'fast',
        volumeMode: 'Block',
        mountOptions: ['noatime'],
        claimRef: { namespace: 'default', name: 'data-0' },
        csi: {
          driver: 'csi.example.com',
          volumeHandle: 'vol-1',
          fsType: 'ext4',
          volumeAttributes: { a: 'b' },
          nodePublishSecretRef: { name: 's', namespace: 'default' },
          controllerExpandSecretRef: { name: 's', namespace: 'default' },
        },
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [
              { matchExpressions: [{ key: 'zone', operator: 'In', values: ['a', 'b'] }] },
              { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] },
            ],
          },
        },
      },
    },
    change: { spec: { persistentVolumeReclaimPolicy: 'Retain', mountOptions: ['noatime', 'nodiratime'] } },
    status: { status: { phase: 'Bound', message: 'm', reason: 'r' } },
  },
  {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    plural: 'persistentvolumeclaims',
    minimal: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '0.5Gi' } } } },
    rich: {
      spec: {
        accessModes: ['ReadWriteOncePod'],
        resources: { requests: { storage: '5Gi' }, limits: { storage: '10Gi' } },
        storageClassName: 'fast',
        volumeMode: 'Filesystem',
        volumeAttributesClassName: 'gold',
        selector: {
          matchLabels: { tier: 'db' },
          matchExpressions: [{ key: 'x', operator: 'NotIn', values: ['1'] }],
        },
        dataSource: { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 'snap' },
      },
    },
    change: { spec: { volumeName: 'pv-1' } },
    status: {
      status: {
        phase: 'Bound',
        accessModes: ['ReadWriteOnce'],
        capacity: { storage: '5Gi' },
        conditions: [{ type: 'Resizing', status: 'True', lastTransitionTime: '2020-01-01T00:00:00Z' }],
        allocatedResources: { storage: '5Gi' },
        allocatedResourceStatuses: { storage: 'ControllerResizeInProgress' },
      },
    },
  },
  {
    apiVersion: storage,
    kind: 'StorageClass',
    plural: 'storageclasses',
    isClusterWide: true,
    minimal: { provisioner: 'csi.example.com' },
    rich: {
      provisioner: 'csi.example.com',
      parameters: { type: 'ssd', 'csi.storage.k8s.io/fstype': 'xfs' },
      reclaimPolicy: 'Retain',
      mountOptions: ['debug'],
      allowVolumeExpansion: true,
      volumeBindingMode: 'WaitForFirstConsumer',
      allowedTopologies: [{ matchLabelExpressions: [{ key: 'zone', values: ['a', 'b'] }] }],
    },
    change: { allowVolumeExpansion: false, mountOptions: ['debug', 'ro'] },
  },
  {
    apiVersion: storage,
    kind: 'CSIDriver',
    plural: 'csidrivers',
    isClusterWide: true,
    minimal: { spec: {} },
    rich: {
      spec: {
        attachRequired: false,
        podInfoOnMount: true,
        volumeLifecycleModes: ['Persistent', 'Ephemeral'],
        storageCapacity: true,
        fsGroupPolicy: 'File',
        tokenRequests: [{ audience: 'a', expirationSeconds: 3600 }],
        requiresRepublish: true,
        seLinuxMount: true,
        nodeAllocatableUpdatePeriodSeconds: 60,
      },
    },
    change: { spec: { requiresRepublish: false, storageCapacity: false } },
  },
  {
    apiVersion: storage,
    kind: 'CSINode',
    plural: 'csinodes',
    isClusterWide: true,
    minimal: { spec: { drivers: [] } },
    rich: {
      spec: {
        drivers: [
          { name: 'a.example.com', nodeID: 'n-1', topologyKeys: ['zone'], allocatable: { count: 8 } },
          { name: 'b.example.com', nodeID: 'n-2', topologyKeys: null },
        ],
      },
    },
    change: {
      spec: {
        drivers: [
          { name: 'a.example.com', nodeID: 'n-1', topologyKeys: ['zone'], allocatable: { count: 8 } },
        ],
      },
    },
  },
  {
    apiVersion: storage,
    kind: 'CSIStorageCapacity',
    plural: 'csistoragecapacities',
    minimal: { storageClassName: 'fast' },
    rich: {
      storageClassName: 'fast',
      nodeTopology: { matchLabels: { zone: 'a' } },
      capacity: '100Gi',
      maximumVolumeSize: '10240Mi',
    },
    change: { capacity: '1.5Ti', maximumVolumeSize: null },
  },
  {
    apiVersion: storage,
    kind: 'VolumeAttachment',
    plural: 'volumeattachments',
    isClusterWide: true,
    minimal: {
      spec: { attacher: 'csi.example.com', nodeName: 'n1', source: { persistentVolumeName: 'pv-1' } },
    },
    rich: {
      spec: {
        attacher: 'csi.example.com',
        nodeName: 'n1',
        source: {
          inlineVolumeSpec: {
            accessModes: ['ReadWriteOnce'],
            csi: { driver: 'csi.example.com', volumeHandle: 'v' },
          },
        },
      },
    },
    change: { metadata: { annotations: { changed: 'yes' } } },
    status: {
      status: {
        attached: true,
        attachmentMetadata: { devicePath: '/dev/x' },
        attachError: { time: '2020-01-01T00:00:00Z', message: 'broken', errorCode: 5 },
      },
    },
  },
  {
    apiVersion: storage,
    kind: 'VolumeAttributesClass',
    plural: 'volumeattributesclasses',
    isClusterWide: true,
    minimal: { driverName: 'csi.example.com', parameters: { a: 'b' } },
    rich: { driverName: 'csi.example.com', parameters: { iops: '100', throughput: '50' } },
    change: { metadata: { annotations: { changed: 'yes' } } },
  },
];
