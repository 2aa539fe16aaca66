import { commonKinds, type RandomKind } from './random-kinds.ts';
import { conditions, partTemplate, replicas, selector, wholeTemplate } from './random-pods.ts';
import { mapWith, object, one, several, some } from './random-values.ts';

const batchTemplate = one({ spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'c:1' }] } });
const topologies = one({ a: '1' }, { a: '1', b: '2' });

const otherKinds: readonly RandomKind[] = [
  {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    plural: 'replicasets',
    whole: object({}, { spec: object({ replicas }, { ...selector, template: wholeTemplate }) }),
    part: object({}, { spec: object({ replicas, minReadySeconds: one(0, 1), template: partTemplate }) }),
    status: object({ readyReplicas: one(0, 1), conditions }, { replicas: one(1, 2) }),
  },
  {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    plural: 'cronjobs',
    whole: object(
      {},
      {
        spec: object(
          { suspend: one(true, false) },
          {
            schedule: one('* * * * *'),
            jobTemplate: object({}, { spec: object({}, { template: batchTemplate }) }),
          },
        ),
      },
    ),
    part: object(
      {},
      {
        spec: object({
          schedule: one('* * * * *', '1 * * * *'),
          concurrencyPolicy: one('Allow', 'Forbid'),
          startingDeadlineSeconds: one(60, null),
          jobTemplate: object({
            metadata: object({ labels: mapWith(['a', 'b'], one('1', '2')) }),
            spec: object({ backoffLimit: one(1, 2), template: batchTemplate }),
          }),
        }),
      },
    ),
    status: object({ lastScheduleTime: one('2020-01-01T00:00:00Z', '2020-01-02T00:00:00Z') }),
  },
  {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    plural: 'poddisruptionbudgets',
    whole: object(
      {},
      { spec: object({ selector: one({ matchLabels: { a: '1' } }) }, { minAvailable: one(1, '50%') }) },
    ),
    part: object(
      {},
      {
        spec: object({
          minAvailable: one(1, 2, '50%', null),
          maxUnavailable: one(1, null),
          selector: one({ matchLabels: { a: '1' } }, { matchLabels: { b: '1' } }),
          unhealthyPodEvictionPolicy: one('AlwaysAllow', 'IfHealthyBudget'),
        }),
      },
    ),
    status: object(
      { conditions, disruptedPods: one({ p: '2020-01-01T00:00:00Z' }, {}) },
      {
        disruptionsAllowed: one(0, 1),
        currentHealthy: one(1),
        desiredHealthy: one(1, 2),
        expectedPods: one(2),
      },
    ),
  },
  {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    plural: 'endpointslices',
    whole: object(
      { ports: one([{ port: 80 }]) },
      { addressType: one('IPv4'), endpoints: one([{ addresses: ['1.2.3.4'] }]) },
    ),
    part: object({
      endpoints: several(
        one({ addresses: ['1.2.3.4'] }),
        one({ addresses: ['1.2.3.5'], conditions: { ready: true } }),
      ),
      ports: one([{ port: 80 }], [{ port: 81, name: 'a' }], null),
      addressType: one('IPv4'),
    }),
  },
  {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSIDriver',
    plural: 'csidrivers',
    isClusterWide: true,
    whole: object({}, { spec: object({ podInfoOnMount: one(true, false) }) }),
    part: object(
      {},
      {
        spec: object({
          podInfoOnMount: one(true, false),
          requiresRepublish: one(true, false),
          storageCapacity: one(true, false),
          tokenRequests: some(one({ audience: 'a' }), one({ audience: 'b', expirationSeconds: 3600 })),
          volumeLifecycleModes: some(one('Persistent'), one('Ephemeral')),
        }),
      },
    ),
  },
  {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSINode',
    plural: 'csinodes',
    isClusterWide: true,
    whole: object({}, { spec: one({ drivers: [] }, { drivers: [{ name: 'a', nodeID: 'x' }] }) }),
    part: object(
      {},
      {
        spec: object({
          drivers: some(
            object({ topologyKeys: one(['z']) }, { name: one('a'), nodeID: one('x') }),
            object({ allocatable: one({ count: 1 }, { count: 2 }) }, { name: one('b'), nodeID: one('x') }),
          ),
        }),
      },
    ),
  },
  {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'VolumeAttachment',
    plural: 'volumeattachments',
    isClusterWide: true,
    whole: object(
      {},
      {
        spec: one({ attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'v' } }),
      },
    ),
    part: object({ spec: object({ attacher: one('a'), nodeName: one('n', 'm') }) }),
    status: object(
      { attachmentMetadata: topologies, attachError: one({ message: 'a' }, { message: 'b' }) },
      { attached: one(true, false) },
    ),
  },
  {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSIStorageCapacity',
    plural: 'csistoragecapacities',
    whole: object({ capacity: one('1Gi', '1024Mi') }, { storageClassName: one('fast') }),
    part: object({
      capacity: one('1Gi', '2Gi'),
      maximumVolumeSize: one('1Gi', '1024Mi'),
      nodeTopology: one({ matchLabels: { a: '1' } }),
      storageClassName: one('fast'),
    }),
  },
  {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    plural: 'resourcequotas',
    whole: object({ spec: object({ hard: mapWith(['pods', 'services'], one('1', '2')) }) }),
    part: object({ spec: object({ hard: mapWith(['pods', 'services', 'cpu'], one('1', '1000m', 2)) }) }),
    status: object({ hard: mapWith(['pods'], one('1', '2')), used: mapWith(['pods'], one('0', '1')) }),
  },
  {
    apiVersion: 'v1',
    kind: 'LimitRange',
    plural: 'limitranges',
    whole: object({}, { spec: one({ limits: [] }, { limits: [{ type: 'Pod', max: { cpu: '1' } }] }) }),
    part: object({
      spec: one({ limits: [{ type: 'Container', max: { cpu: '1' } }] }, { limits: [] }, {}),
    }),
  },
  {
    apiVersion: 'v1',
    kind: 'Endpoints',
    plural: 'endpoints',
    whole: object({ subsets: one([]) }),
    part: object({
      subsets: one(
        [{ addresses: [{ ip: '1.2.3.4' }], ports: [{ port: 1 }] }],
        [{ addresses: [{ ip: '1.2.3.5' }] }],
      ),
    }),
  },
  {
    apiVersion: 'v1',
    kind: 'ReplicationController',
    plural: 'replicationcontrollers',
    whole: object(
      {},
      { spec: object({ replicas, selector: one({ app: 'x' }) }, { template: wholeTemplate }) },
    ),
    part: object({}, { spec: object({ replicas, minReadySeconds: one(0, 1), template: partTemplate }) }),
    status: object({ readyReplicas: one(0, 1), conditions }, { replicas: one(1, 2) }),
  },
  {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    plural: 'priorityclasses',
    isClusterWide: true,
    whole: object({ description: one('a', 'b') }, { value: one(1) }),
    part: object({ value: one(1, 2), description: one('a', 'b', ''), preemptionPolicy: one('Never') }),
  },
];

/** All kinds from which objects are drawn. */
export const randomKinds: readonly RandomKind[] = [...commonKinds, ...otherKinds];
