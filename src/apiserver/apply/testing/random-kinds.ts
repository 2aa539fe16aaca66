import {
  amounts,
  conditions,
  container,
  partTemplate,
  podParts,
  replicas,
  selector,
  wholeTemplate,
} from './random-pods.ts';
import { type Draw, either, mapWith, object, one, orNothing, several, some } from './random-values.ts';

/** A kind, with draws for its configurations. Several draws set the same fields, so that appliers conflict. */
export interface RandomKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly isClusterWide?: boolean;
  /** Draws the fields beside the metadata, as many as a first configuration needs. */
  readonly whole: Draw;
  /** Draws parts of them, as other appliers would. */
  readonly part: Draw;
  /** Includes the field `status`. */
  readonly status?: Draw;
}

const text = one('1', '2', '3', '');
const texts = orNothing(mapWith(['a', 'b', 'c'], text), {});

export const randomMetadata: Draw = object({
  labels: orNothing(mapWith(['a', 'b', 'c.io/d'], one('1', '2')), {}),
  annotations: mapWith(['a', 'x.io/b'], one('1', '2', '')),
  finalizers: orNothing(some(one('x.io/a'), one('x.io/b'), one('x.io/c')), []),
  ownerReferences: some(...['u-1', 'u-2'].map(owner)),
});

function owner(uid: string): Draw {
  return object(
    { controller: one(false), blockOwnerDeletion: one(true, false) },
    { apiVersion: one('v1'), kind: one('ConfigMap'), name: one('o', 'p'), uid: one(uid) },
  );
}

const volumeSource = { hostPath: one({ path: '/x' }) };

export const commonKinds: readonly RandomKind[] = [
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    plural: 'configmaps',
    whole: object({ data: texts, binaryData: mapWith(['d', 'e'], one('AAAA', 'AQ==')) }),
    part: object({ data: texts, binaryData: mapWith(['d', 'e'], one('AAAA', 'AQ==')) }),
  },
  {
    apiVersion: 'v1',
    kind: 'Secret',
    plural: 'secrets',
    whole: object({
      data: mapWith(['a', 'b'], one('AAAA', 'AQ==')),
      stringData: mapWith(['a', 'c'], one('1', '2')),
    }),
    part: object({
      data: mapWith(['a', 'b'], one('AAAA', 'AQ==')),
      stringData: mapWith(['a', 'c'], one('1', '2')),
    }),
  },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    plural: 'deployments',
    whole: object(
      {},
      { spec: object({ replicas, paused: one(true, false) }, { ...selector, template: wholeTemplate }) },
    ),
    part: object(
      {},
      {
        spec: object({
          ...selector,
          replicas,
          minReadySeconds: one(0, 1, 2),
          strategy: one(
            {},
            { type: 'Recreate' },
            { rollingUpdate: { maxSurge: 1 } },
            { rollingUpdate: { maxSurge: '10%' } },
          ),
          template: partTemplate,
        }),
      },
    ),
    status: object({ replicas: one(1, 2), observedGeneration: one(1, 2), conditions }),
  },
  {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    plural: 'statefulsets',
    whole: object(
      {},
      {
        spec: object(
          {
            replicas,
            volumeClaimTemplates: one([
              {
                metadata: { name: 'c' },
                spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
              },
            ]),
          },
          { ...selector, template: wholeTemplate, serviceName: one('s') },
        ),
      },
    ),
    part: object(
      {},
      {
        spec: object({
          replicas,
          minReadySeconds: one(0, 1),
          updateStrategy: object({
            type: one('RollingUpdate'),
            rollingUpdate: object({ partition: one(0, 1) }),
          }),
          persistentVolumeClaimRetentionPolicy: object({
            whenDeleted: one('Retain', 'Delete'),
            whenScaled: one('Delete'),
          }),
          ordinals: one({ start: 1 }, { start: 2 }, {}),
          template: partTemplate,
        }),
      },
    ),
    status: object(
      { readyReplicas: one(0, 1), currentRevision: one('a', 'b'), conditions },
      { replicas: one(1, 2) },
    ),
  },
  {
    apiVersion: 'v1',
    kind: 'Pod',
    plural: 'pods',
    whole: object(
      {},
      {
        spec: object(podParts, {
          containers: several(container('one'), container('two')),
          volumes: one([
            { name: 'v', emptyDir: {} },
            { name: 'w', emptyDir: {} },
          ]),
        }),
      },
    ),
    part: object(
      {},
      {
        spec: object({
          containers: several(container('one')),
          tolerations: podParts.tolerations,
          activeDeadlineSeconds: one(10, 9),
        }),
      },
    ),
    status: object({
      phase: one('Running', 'Pending'),
      conditions,
      podIP: one('10.0.0.1'),
      podIPs: one([{ ip: '10.0.0.1' }]),
      containerStatuses: one([{ name: 'one', ready: true, restartCount: 1, image: 'i', imageID: 'x' }]),
    }),
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    plural: 'services',
    whole: object(
      {},
      {
        spec: object(
          { selector: mapWith(['a', 'b'], one('1', '2')) },
          { ports: one([{ port: 80, name: 'a' }]) },
        ),
      },
    ),
    part: object(
      {},
      {
        spec: object({
          selector: mapWith(['a', 'b'], one('1', '2')),
          sessionAffinity: one('None', 'ClientIP'),
          publishNotReadyAddresses: one(true, false),
          ports: some(
            object({ targetPort: one(80, 'web'), name: one('a') }, { port: one(80) }),
            object({ appProtocol: one('http') }, { port: one(81), name: one('b'), protocol: one('TCP') }),
            object({}, { port: one(80), name: one('c'), protocol: one('UDP') }),
          ),
        }),
      },
    ),
    status: object({ loadBalancer: one({}, { ingress: [{ ip: '1.2.3.4' }] }), conditions }),
  },
  {
    apiVersion: 'v1',
    kind: 'Node',
    plural: 'nodes',
    isClusterWide: true,
    whole: object({ spec: object({ unschedulable: one(true) }) }),
    part: object({
      spec: object({
        unschedulable: one(true, false),
        taints: some(one({ key: 'a', effect: 'NoSchedule' }), one({ key: 'b', effect: 'NoExecute' })),
        podCIDRs: one(['10.0.0.0/24']),
        podCIDR: one('10.0.0.0/24'),
      }),
    }),
    status: object({
      capacity: amounts,
      allocatable: amounts,
      conditions,
      addresses: some(
        one({ type: 'InternalIP', address: '1.2.3.4' }),
        one({ type: 'Hostname', address: 'h' }),
      ),
      images: one([{ names: ['a'], sizeBytes: 1 }]),
      nodeInfo: object({ kernelVersion: one('1', '2') }),
      daemonEndpoints: one({}, { kubeletEndpoint: { Port: 10250 } }),
    }),
  },
  {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    plural: 'persistentvolumes',
    isClusterWide: true,
    whole: object(
      {},
      {
        spec: object(
          { storageClassName: one('fast'), mountOptions: one(['ro']) },
          { ...volumeSource, capacity: one({ storage: '1Gi' }), accessModes: one(['ReadWriteOnce']) },
        ),
      },
    ),
    part: object(
      {},
      {
        spec: object({
          capacity: one({ storage: '1Gi' }, { storage: '2Gi' }),
          accessModes: one(['ReadWriteOnce'], ['ReadWriteMany']),
          persistentVolumeReclaimPolicy: one('Retain', 'Delete'),
          mountOptions: one(['ro'], ['rw']),
          claimRef: object({ namespace: one('a'), name: one('c'), uid: one('u') }),
          storageClassName: one('fast', 'slow'),
          ...volumeSource,
        }),
      },
    ),
    status: object({ phase: one('Available', 'Bound'), message: one('a', 'b') }),
  },
  {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    plural: 'persistentvolumeclaims',
    whole: object(
      {},
      {
        spec: object(
          { storageClassName: one('fast', ''), selector: one({ matchLabels: { a: '1' } }) },
          {
            accessModes: one(['ReadWriteOnce']),
            resources: object({}, { requests: one({ storage: '1Gi' }, { storage: '1024Mi' }) }),
          },
        ),
      },
    ),
    part: object(
      {},
      {
        spec: object({
          accessModes: one(['ReadWriteOnce']),
          volumeName: one('pv'),
          resources: object({ requests: one({ storage: '1Gi' }, { storage: '2Gi' }) }),
        }),
      },
    ),
    status: object({
      phase: one('Pending', 'Bound'),
      accessModes: one(['ReadWriteOnce']),
      capacity: one({ storage: '1Gi' }, { storage: '2Gi' }),
      conditions: some(
        one({ type: 'Resizing', status: 'True' }),
        one({ type: 'FileSystemResizePending', status: 'True' }),
      ),
    }),
  },
  {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    plural: 'storageclasses',
    isClusterWide: true,
    whole: object({ parameters: texts }, { provisioner: one('x.io/p') }),
    part: object({
      provisioner: one('x.io/p', 'x.io/q'),
      mountOptions: one(['ro'], ['rw', 'ro']),
      allowVolumeExpansion: one(true, false),
      allowedTopologies: one([{ matchLabelExpressions: [{ key: 'z', values: ['a'] }] }], []),
      reclaimPolicy: one('Delete'),
    }),
  },
  {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    plural: 'serviceaccounts',
    whole: object({ automountServiceAccountToken: one(true, false) }),
    part: object({
      secrets: some(object({ namespace: one('x') }, { name: one('a') }), one({ name: 'b' })),
      imagePullSecrets: some(one({ name: 'a' }), one({ name: 'b' })),
      automountServiceAccountToken: one(true, false, null),
    }),
  },
  {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    plural: 'leases',
    whole: object({ spec: object({ holderIdentity: one('a', 'b') }) }),
    part: object(
      {},
      {
        spec: object({
          holderIdentity: either(one('a'), one('b')),
          leaseDurationSeconds: one(1, 2),
          renewTime: one('2020-01-01T00:00:00.000000Z', '2020-01-01T00:00:00.100000Z'),
        }),
      },
    ),
  },
];
