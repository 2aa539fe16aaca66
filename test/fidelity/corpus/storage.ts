import { get, post, type Scenario, scenario } from '../scenario.ts';
import { changes, creations } from './variations.ts';

const base = '/apis/storage.k8s.io/v1';
const apiVersion = 'storage.k8s.io/v1';
const storageClass = {
  apiVersion,
  kind: 'StorageClass',
  metadata: { name: 'fidelity-class' },
  provisioner: 'x.io',
  parameters: { a: 'b' },
  allowVolumeExpansion: true,
};
const driver = {
  apiVersion,
  kind: 'CSIDriver',
  metadata: { name: 'fidelity.io' },
  spec: { attachRequired: true },
};
const node = {
  apiVersion,
  kind: 'CSINode',
  metadata: { name: 'fidelity-node' },
  spec: { drivers: [{ name: 'a.io', nodeID: 'n', topologyKeys: ['zone'] }] },
};
const capacity = {
  apiVersion,
  kind: 'CSIStorageCapacity',
  metadata: { name: 'cap' },
  storageClassName: 'fast',
  capacity: '1Gi',
  nodeTopology: { matchLabels: { z: 'a' } },
};
const attachment = {
  apiVersion,
  kind: 'VolumeAttachment',
  metadata: { name: 'fidelity-att' },
  spec: { attacher: 'x.io', nodeName: 'n1', source: { persistentVolumeName: 'pv' } },
};
const attributes = {
  apiVersion,
  kind: 'VolumeAttributesClass',
  metadata: { name: 'fidelity-attr' },
  driverName: 'x.io',
  parameters: { iops: '1' },
};

function drivers(...list: readonly object[]): object {
  return { spec: { drivers: list } };
}

export const storageScenarios: readonly Scenario[] = [
  creations('storage classes that are refused', `${base}/storageclasses`, storageClass, [
    { provisioner: null },
    { provisioner: 'Bad Provisioner' },
    { provisioner: 'kubernetes.io/no-provisioner' },
    { reclaimPolicy: 'Recycle' },
    { reclaimPolicy: '' },
    { volumeBindingMode: 'Whenever' },
    { parameters: { '': 'x' } },
    { parameters: null },
    { allowedTopologies: [{}] },
    { allowedTopologies: [{ matchLabelExpressions: [{ key: 'z', values: [] }] }] },
    {
      allowedTopologies: [
        {
          matchLabelExpressions: [
            { key: 'z', values: ['a', 'a'] },
            { key: 'z', values: ['b'] },
          ],
        },
      ],
    },
    {
      allowedTopologies: [
        { matchLabelExpressions: [{ key: 'z', values: ['a'] }] },
        { matchLabelExpressions: [{ key: 'z', values: ['a'] }] },
      ],
    },
    {
      allowedTopologies: [
        { matchLabelExpressions: [{ key: 'failure-domain.beta.kubernetes.io/zone', values: ['a'] }] },
      ],
    },
    { mountOptions: ['a b'] },
    { allowVolumeExpansion: null },
  ]),
  changes({
    name: 'changes of storage classes',
    collection: `${base}/storageclasses`,
    object: storageClass,
    changes: [
      { provisioner: 'other.io' },
      { parameters: { a: 'c' } },
      { parameters: null },
      { reclaimPolicy: 'Retain' },
      { volumeBindingMode: 'WaitForFirstConsumer' },
      { allowVolumeExpansion: false },
      { mountOptions: ['ro'] },
      { allowedTopologies: [{ matchLabelExpressions: [{ key: 'z', values: ['a'] }] }] },
      { metadata: { annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } } },
    ],
  }),
  creations('CSI drivers that are refused', `${base}/csidrivers`, driver, [
    { metadata: { name: 'Bad_Driver' } },
    { metadata: { name: `${'x'.repeat(64)}` } },
    { spec: null },
    { spec: { volumeLifecycleModes: ['Odd'] } },
    { spec: { volumeLifecycleModes: [] } },
    { spec: { fsGroupPolicy: 'Odd' } },
    { spec: { tokenRequests: [{ audience: 'a' }, { audience: 'a' }] } },
    { spec: { tokenRequests: [{ audience: 'a', expirationSeconds: 1 }] } },
    { spec: { nodeAllocatableUpdatePeriodSeconds: 1 } },
    { spec: { attachRequired: null, podInfoOnMount: null } },
    { spec: { serviceAccountTokenInSecrets: true } },
  ]),
  changes({
    name: 'changes of CSI drivers',
    collection: `${base}/csidrivers`,
    object: driver,
    changes: [
      { spec: { attachRequired: false } },
      { spec: { podInfoOnMount: true } },
      { spec: { volumeLifecycleModes: ['Ephemeral'] } },
      { spec: { storageCapacity: true } },
      { spec: { fsGroupPolicy: 'None' } },
      { spec: { tokenRequests: [{ audience: 'a' }] } },
      { spec: { requiresRepublish: true, seLinuxMount: true } },
      { metadata: { resourceVersion: null } },
    ],
  }),
  creations('CSI nodes that are refused', `${base}/csinodes`, node, [
    { spec: null },
    { spec: { drivers: null } },
    drivers({ name: '', nodeID: '' }),
    drivers({ name: 'Bad Name', nodeID: 'x'.repeat(257) }),
    drivers({ name: 'a.io', nodeID: 'n' }, { name: 'a.io', nodeID: 'm' }),
    drivers({ name: 'a.io', nodeID: 'n', topologyKeys: ['a', 'a'] }),
    drivers({ name: 'a.io', nodeID: 'n', topologyKeys: ['bad key!'] }),
    drivers({ name: 'a.io', nodeID: 'n', allocatable: { count: -1 } }),
    drivers({ name: 'a.io', nodeID: 'n', topologyKeys: [] }),
  ]),
  changes({
    name: 'changes of CSI nodes',
    collection: `${base}/csinodes`,
    object: node,
    changes: [
      drivers(),
      drivers({ name: 'a.io', nodeID: 'other', topologyKeys: ['zone'] }),
      drivers({ name: 'a.io', nodeID: 'n', topologyKeys: ['zone', 'rack'] }),
      drivers({ name: 'a.io', nodeID: 'n', topologyKeys: ['zone'], allocatable: { count: 5 } }),
      drivers({ name: 'a.io', nodeID: 'n', topologyKeys: ['zone'] }, { name: 'b.io', nodeID: 'm' }),
      { metadata: { resourceVersion: null } },
    ],
  }),
  creations('capacities that are refused', `${base}/namespaces/{{ns}}/csistoragecapacities`, capacity, [
    { storageClassName: null },
    { storageClassName: 'Bad_Class' },
    { capacity: '-1' },
    { capacity: 'x' },
    { maximumVolumeSize: '-1Gi' },
    { nodeTopology: { matchExpressions: [{ key: 'a', operator: 'Odd' }] } },
    { nodeTopology: null, capacity: null },
    { nodeTopology: {} },
    { metadata: { name: null, generateName: 'csisc-' } },
  ]),
  changes({
    name: 'changes of capacities',
    collection: `${base}/namespaces/{{ns}}/csistoragecapacities`,
    object: capacity,
    changes: [
      { capacity: '2Gi' },
      { capacity: null },
      { storageClassName: 'slow' },
      { nodeTopology: { matchLabels: { z: 'b' } } },
      { maximumVolumeSize: '1Gi' },
      { metadata: { resourceVersion: null } },
    ],
  }),
  creations('attachments that are refused', `${base}/volumeattachments`, attachment, [
    { spec: null },
    { spec: { attacher: '' } },
    { spec: { attacher: 'Bad Attacher' } },
    { spec: { nodeName: '' } },
    { spec: { source: null } },
    { spec: { source: { persistentVolumeName: '' } } },
    { spec: { source: { inlineVolumeSpec: {} } } },
    {
      spec: {
        source: {
          persistentVolumeName: null,
          inlineVolumeSpec: {
            capacity: { storage: '1Gi' },
            accessModes: ['ReadWriteOnce'],
            csi: { driver: 'x.io', volumeHandle: 'v' },
          },
        },
      },
    },
    { status: { attached: true, attachmentMetadata: { a: 'b' } } },
  ]),
  changes({
    name: 'changes of attachments',
    collection: `${base}/volumeattachments`,
    object: attachment,
    changes: [
      { spec: { nodeName: 'n2' } },
      { spec: { source: { persistentVolumeName: 'other' } } },
      { status: { attached: true } },
      { metadata: { resourceVersion: null } },
      { metadata: { finalizers: ['external-attacher/x'] } },
    ],
  }),
  changes({
    name: 'changes of the status of attachments',
    collection: `${base}/volumeattachments`,
    object: { ...attachment, metadata: { name: 'fidelity-att-status' } },
    subresource: 'status',
    changes: [
      { status: { attached: true, attachmentMetadata: { a: 'b' } } },
      {
        status: {
          attached: false,
          attachError: { message: 'x'.repeat(10), time: '2020-01-01T00:00:00Z', errorCode: -1 },
        },
      },
      { status: { attachmentMetadata: { a: 'x'.repeat(300) } } },
      { status: { detachError: { message: 'm' } } },
      { spec: { nodeName: 'ignored' } },
    ],
  }),
  creations('attribute classes that are refused', `${base}/volumeattributesclasses`, attributes, [
    { driverName: null },
    { driverName: 'Bad Driver' },
    { parameters: null },
    { parameters: {} },
    { parameters: { '': 'x' } },
  ]),
  changes({
    name: 'changes of attribute classes',
    collection: `${base}/volumeattributesclasses`,
    object: attributes,
    changes: [
      { driverName: 'other.io' },
      { parameters: { iops: '2' } },
      { metadata: { labels: { a: 'b' } } },
    ],
  }),
  scenario(
    'wrong places for storage kinds',
    post(`${base}/namespaces/{{ns}}/storageclasses`, storageClass),
    post(`${base}/csistoragecapacities`, capacity),
    get(`${base}/csistoragecapacities?limit=1`),
    get('/apis/storage.k8s.io/v1beta1/storageclasses'),
    get('/apis/storage.k8s.io'),
  ),
];
