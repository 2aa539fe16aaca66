import { asTable, get, patch, post, type Scenario, scenario } from '../scenario.ts';
import { changes, creations } from './variations.ts';

const claims = '/api/v1/namespaces/{{ns}}/persistentvolumeclaims';
const volumes = '/api/v1/persistentvolumes';
const claim = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'c' },
  spec: {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: '1Gi' } },
    storageClassName: 'fast',
  },
};
const volume = {
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: 'fidelity-pv' },
  spec: {
    capacity: { storage: '1Gi' },
    accessModes: ['ReadWriteOnce'],
    local: { path: '/mnt/a' },
    nodeAffinity: {
      required: {
        nodeSelectorTerms: [
          { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['n1'] }] },
        ],
      },
    },
  },
};

function source(name: string, value: unknown): object {
  return { spec: { local: null, [name]: value } };
}

export const claimScenarios: readonly Scenario[] = [
  creations('claims that are refused', claims, claim, [
    { spec: null },
    { spec: { accessModes: [] } },
    { spec: { accessModes: ['Odd'] } },
    { spec: { accessModes: ['ReadWriteOncePod', 'ReadWriteOnce'] } },
    { spec: { resources: null } },
    { spec: { resources: { requests: { storage: '0' } } } },
    { spec: { resources: { requests: { storage: '-1' } } } },
    { spec: { resources: { requests: { storage: '100m' } } } },
    { spec: { resources: { requests: { storage: null, cpu: '1' } } } },
    { spec: { resources: { limits: { storage: '1' } } } },
    { spec: { storageClassName: 'Bad_Class' } },
    { spec: { storageClassName: '' } },
    { spec: { storageClassName: null } },
    { spec: { volumeMode: 'Odd' } },
    { spec: { volumeMode: 'Block', volumeName: 'pv' } },
    { spec: { volumeAttributesClassName: '' } },
    { spec: { volumeAttributesClassName: 'Bad_Class' } },
    { spec: { selector: { matchExpressions: [{ key: '', operator: 'Odd' }] } } },
    { spec: { selector: { matchLabels: { 'bad key!': 'x' } } } },
    { spec: { dataSource: { kind: 'PersistentVolumeClaim', name: 'c' } } },
    { spec: { dataSource: { kind: 'PersistentVolumeClaim', name: 'other' } } },
    { spec: { dataSource: { kind: 'Odd', name: '' } } },
    { spec: { dataSource: { apiGroup: 'x.io', kind: 'Thing', name: 't' } } },
    { spec: { dataSourceRef: { apiGroup: 'x.io', kind: 'Thing', name: 't' } } },
    { spec: { dataSourceRef: { apiGroup: 'x.io', kind: 'Thing', name: 't', namespace: 'other' } } },
    {
      spec: {
        dataSource: { kind: 'PersistentVolumeClaim', name: 'a' },
        dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'b' },
      },
    },
    { metadata: { annotations: { 'volume.beta.kubernetes.io/storage-class': 'slow' } } },
    { metadata: { name: 'x'.repeat(254) } },
    { status: { phase: 'Bound', capacity: { storage: '1Gi' } } },
  ]),
  changes({
    name: 'changes of a claim that waits',
    collection: claims,
    object: claim,
    changes: [
      { spec: { resources: { requests: { storage: '2Gi' } } } },
      { spec: { resources: { requests: { storage: '500Mi' } } } },
      { spec: { volumeName: 'pv' } },
      { spec: { storageClassName: 'slow' } },
      { spec: { storageClassName: null } },
      { spec: { accessModes: ['ReadOnlyMany'] } },
      { spec: { volumeMode: 'Block' } },
      { spec: { selector: { matchLabels: { a: 'b' } } } },
      { spec: { volumeAttributesClassName: 'gold' } },
      { spec: null },
      { metadata: { annotations: { 'volume.kubernetes.io/selected-node': 'n1' } } },
      { metadata: { finalizers: null } },
      { status: { phase: 'Bound' } },
    ],
  }),
  changes({
    name: 'changes of the status of a claim',
    collection: claims,
    object: claim,
    subresource: 'status',
    changes: [
      { status: { phase: 'Bound', capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] } },
      { status: { phase: 'Odd' } },
      { status: { capacity: { storage: '-1' } } },
      { status: { allocatedResources: { storage: '5Gi' } } },
      { status: { allocatedResources: { cpu: '5' } } },
      { status: { allocatedResourceStatuses: { storage: 'Odd' } } },
      { status: { conditions: [{ type: 'FileSystemResizePending', status: 'True' }] } },
      { status: { modifyVolumeStatus: { status: 'Odd' } } },
      {
        status: {
          modifyVolumeStatus: { status: 'Pending', targetVolumeAttributesClassName: 'g' },
          currentVolumeAttributesClassName: 's',
        },
      },
      { spec: { volumeName: 'ignored' } },
    ],
  }),
  scenario(
    'growth of a bound claim',
    post(
      '/apis/storage.k8s.io/v1/storageclasses',
      { metadata: { name: 'fidelity-grow' }, provisioner: 'x.io', allowVolumeExpansion: true },
      { form: 'metadata' },
    ),
    post(
      '/apis/storage.k8s.io/v1/storageclasses',
      { metadata: { name: 'fidelity-fixed' }, provisioner: 'x.io' },
      { form: 'metadata' },
    ),
    ...['grow', 'fixed'].flatMap((kind) => [
      post(
        claims,
        {
          ...claim,
          metadata: { name: kind },
          spec: { ...claim.spec, storageClassName: `fidelity-${kind}`, volumeName: `pv-${kind}` },
        },
        { form: 'metadata', settle: true },
      ),
      patch('merge', `${claims}/${kind}`, { spec: { resources: { requests: { storage: '2Gi' } } } }),
      patch(
        'merge',
        `${claims}/${kind}/status`,
        { status: { phase: 'Bound', capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] } },
        { form: 'metadata' },
      ),
      patch('merge', `${claims}/${kind}`, { spec: { resources: { requests: { storage: '2Gi' } } } }),
      patch('merge', `${claims}/${kind}`, { spec: { resources: { requests: { storage: '1500Mi' } } } }),
      patch('merge', `${claims}/${kind}`, { spec: { resources: { requests: { storage: '500Mi' } } } }),
      patch('merge', `${claims}/${kind}`, { spec: { volumeName: 'other' } }),
      get(`${claims}/${kind}`, { accept: asTable }),
    ]),
  ),
  scenario(
    'the default class',
    post(claims, {
      ...claim,
      metadata: { name: 'none' },
      spec: { ...claim.spec, storageClassName: undefined },
    }),
    post(
      '/apis/storage.k8s.io/v1/storageclasses',
      {
        metadata: {
          name: 'fidelity-default',
          annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
        },
        provisioner: 'x.io',
      },
      { form: 'metadata' },
    ),
    post(
      claims,
      { ...claim, metadata: { name: 'given' }, spec: { ...claim.spec, storageClassName: undefined } },
      { settle: true },
    ),
    post(claims, { ...claim, metadata: { name: 'empty' }, spec: { ...claim.spec, storageClassName: '' } }),
    patch('merge', `${claims}/none`, { spec: { storageClassName: 'fidelity-default' } }),
    get('/apis/storage.k8s.io/v1/storageclasses', { accept: asTable }),
    get(claims, { accept: asTable }),
    get(`${claims}?includeObject=Object&limit=1`, { accept: asTable }),
  ),
  creations('volumes that are refused', volumes, volume, [
    { spec: null },
    { spec: { capacity: null } },
    { spec: { capacity: { storage: '0' } } },
    { spec: { capacity: { cpu: '1' } } },
    { spec: { accessModes: [] } },
    { spec: { accessModes: ['Odd'] } },
    { spec: { accessModes: ['ReadWriteOncePod', 'ReadOnlyMany'] } },
    { spec: { persistentVolumeReclaimPolicy: 'Burn' } },
    { spec: { persistentVolumeReclaimPolicy: 'Recycle' } },
    { spec: { storageClassName: 'Bad_Class' } },
    { spec: { volumeMode: 'Odd' } },
    { spec: { volumeMode: 'Block' } },
    { spec: { volumeAttributesClassName: 'gold' } },
    { spec: { nodeAffinity: null } },
    { spec: { nodeAffinity: { required: { nodeSelectorTerms: [] } } } },
    {
      spec: {
        nodeAffinity: {
          required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'In' }] }] },
        },
      },
    },
    {
      spec: {
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [
              { matchExpressions: [{ key: 'failure-domain.beta.kubernetes.io/zone', operator: 'Exists' }] },
            ],
          },
        },
      },
    },
    { spec: { claimRef: { name: 'c' } } },
    { spec: { mountOptions: ['a,b'] } },
    { spec: { local: null } },
    { spec: { hostPath: { path: '/x' } } },
    source('local', { path: '' }),
    source('local', { path: '../x' }),
    source('hostPath', { path: '/', type: 'Odd' }),
    source('csi', {}),
    source('csi', { driver: 'bad driver', volumeHandle: '', fsType: 'x' }),
    source('csi', { driver: 'x.io', volumeHandle: 'v', nodeStageSecretRef: { name: 's' } }),
    source('nfs', { server: '', path: 'x' }),
    source('iscsi', { targetPortal: '', iqn: 'x', lun: -1 }),
    source('fc', { wwids: ['a'], targetWWNs: ['b'], lun: 1 }),
    source('rbd', { monitors: [], image: '' }),
    source('cephfs', { monitors: [] }),
    source('azureFile', { secretName: '', shareName: '' }),
    source('azureDisk', { diskName: 'd', diskURI: 'u', cachingMode: 'Odd' }),
    source('gcePersistentDisk', { pdName: 'p', partition: 300 }),
    source('awsElasticBlockStore', { volumeID: 'v' }),
    source('vsphereVolume', { volumePath: '' }),
    source('flexVolume', { driver: '' }),
    { metadata: { annotations: { 'volume.beta.kubernetes.io/storage-class': 'x' } } },
    { status: { phase: 'Available' } },
  ]),
  changes({
    name: 'changes of a volume',
    collection: volumes,
    object: volume,
    changes: [
      { spec: { capacity: { storage: '2Gi' } } },
      { spec: { claimRef: { namespace: 'default', name: 'c', uid: 'u' } } },
      { spec: { local: { path: '/other' } } },
      { spec: { local: null, hostPath: { path: '/x' } } },
      { spec: { nodeAffinity: null } },
      {
        spec: {
          nodeAffinity: {
            required: {
              nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['b'] }] }],
            },
          },
        },
      },
      { spec: { persistentVolumeReclaimPolicy: 'Delete' } },
      { spec: { storageClassName: 'other' } },
      { spec: { accessModes: ['ReadOnlyMany'] } },
      { spec: { volumeMode: 'Block' } },
      { spec: { mountOptions: ['ro'] } },
      { spec: { volumeAttributesClassName: 'gold' } },
      { metadata: { finalizers: null } },
      { status: { phase: 'Released' } },
    ],
  }),
  changes({
    name: 'changes of the status of a volume',
    collection: volumes,
    object: { ...volume, metadata: { name: 'fidelity-pv-status' } },
    subresource: 'status',
    changes: [
      { status: { phase: 'Available' } },
      { status: { phase: 'Odd' } },
      { status: { phase: 'Failed', message: 'm', reason: 'r' } },
      { status: { lastPhaseTransitionTime: '2020-01-01T00:00:00Z' } },
      { status: null },
      { spec: { storageClassName: 'ignored' } },
    ],
  }),
];
