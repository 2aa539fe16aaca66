import type { StatefulSet, StatefulSetSpec } from '../../../../src/kube/api/apps.ts';
import { pods, statefulSets } from '../../../../src/kube/resources.ts';
import type { UserScenario } from '../scenario-runner.ts';
import {
  all,
  change,
  create,
  failOne,
  podTemplate,
  remove,
  restrict,
  untilReady,
  withImage,
  withReplicas,
} from './actions.ts';

type Retention = NonNullable<StatefulSetSpec['persistentVolumeClaimRetentionPolicy']>;

/** Named after the retention policy: what happens to claims when the set is scaled down, and when it is deleted. */
const retentions: Readonly<Record<string, Retention>> = {
  'keep-keep': { whenScaled: 'Retain', whenDeleted: 'Retain' },
  'drop-keep': { whenScaled: 'Delete', whenDeleted: 'Retain' },
  'keep-drop': { whenScaled: 'Retain', whenDeleted: 'Delete' },
  'drop-drop': { whenScaled: 'Delete', whenDeleted: 'Delete' },
};

const disks: StatefulSetSpec = {
  volumeClaimTemplates: [
    {
      metadata: { name: 'data', labels: { tier: 'disk' } },
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'disk',
        resources: { requests: { storage: '1Gi' } },
      },
    },
  ],
};

export const statefulSetScenarios: readonly UserScenario[] = [
  {
    name: 'stateful-ordered',
    actions: {
      'three pods with claims': create(statefulSets, setOf('db', { replicas: 3, ...disks })),
      'scaled up': change(statefulSets, 'db', withReplicas(4)),
      'scaled down': change(statefulSets, 'db', withReplicas(2)),
      'another image': change(statefulSets, 'db', withImage('v2')),
      'the previous image': change(statefulSets, 'db', withImage('v1')),
      deleted: remove(statefulSets, 'db', 'Foreground'),
    },
  },
  {
    name: 'stateful-parallel',
    actions: {
      'three pods': create(statefulSets, setOf('db', { replicas: 3, podManagementPolicy: 'Parallel' })),
      'scaled up': change(statefulSets, 'db', withReplicas(5)),
      'scaled down': change(statefulSets, 'db', withReplicas(2)),
      'another image': change(statefulSets, 'db', withImage('v2')),
      orphaned: remove(statefulSets, 'db', 'Orphan'),
      'adopted again': create(statefulSets, setOf('db', { replicas: 2 }, 'v2')),
    },
  },
  {
    name: 'stateful-partition',
    actions: {
      created: create(
        statefulSets,
        setOf('db', { replicas: 3, updateStrategy: { rollingUpdate: { partition: 2 } } }),
      ),
      'another image for the last': change(statefulSets, 'db', withImage('v2')),
      'a pod of the old image is deleted': remove(pods, 'db-0'),
      'updated except for the first': change(statefulSets, 'db', partitionOf(1)),
      'all updated': change(statefulSets, 'db', partitionOf(0)),
    },
  },
  {
    name: 'stateful-on-delete',
    actions: {
      created: create(
        statefulSets,
        setOf('db', { replicas: 2, updateStrategy: { type: 'OnDelete' }, ordinals: { start: 5 } }),
      ),
      'another image, before any pod is deleted': change(statefulSets, 'db', withImage('v2')),
      'the first pod is deleted': remove(pods, 'db-5'),
      'the second pod is deleted': remove(pods, 'db-6'),
      'history beyond the limit': all(
        change(statefulSets, 'db', { spec: { revisionHistoryLimit: 0 } }),
        change(statefulSets, 'db', withImage('v3')),
      ),
    },
  },
  {
    name: 'stateful-stuck',
    isStuck: true,
    actions: {
      created: all(create(statefulSets, setOf('db', { replicas: 2 })), untilReady(statefulSets, 'db')),
      'an update that gets stuck': change(statefulSets, 'db', {
        spec: { template: { spec: { nodeSelector: { on: 'mars' } } } },
      }),
      'rolled back, and still stuck': change(statefulSets, 'db', {
        spec: { template: { spec: { nodeSelector: null } } },
      }),
      'until the pod is removed': all(remove(pods, 'db-1'), untilReady(statefulSets, 'db')),
    },
  },
  {
    name: 'stateful-refused',
    isStuck: true,
    needsPodSecurity: true,
    actions: {
      'pods are rejected': all(restrict('restricted'), create(statefulSets, setOf('db', { replicas: 2 }))),
      allowed: all(
        restrict('privileged'),
        change(statefulSets, 'db', { metadata: { annotations: { note: 'try again' } } }),
        untilReady(statefulSets, 'db'),
      ),
    },
  },
  {
    name: 'stateful-troubles',
    actions: {
      created: create(statefulSets, setOf('db', { replicas: 2, minReadySeconds: 2 })),
      'a pod fails': failOne('db'),
      'a pod loses its labels': change(pods, 'db-1', {
        metadata: { labels: { 'statefulset.kubernetes.io/pod-name': null } },
      }),
      'other ordinals': change(statefulSets, 'db', { spec: { ordinals: { start: 1 } } }),
    },
  },
  {
    name: 'stateful-retention',
    actions: {
      created: all(
        ...Object.entries(retentions).map(([name, persistentVolumeClaimRetentionPolicy]) => {
          return create(
            statefulSets,
            setOf(name, { replicas: 2, persistentVolumeClaimRetentionPolicy, ...disks }),
          );
        }),
      ),
      'scaled down': all(
        ...Object.keys(retentions).map((name) => change(statefulSets, name, withReplicas(1))),
      ),
      'scaled up again': all(
        ...Object.keys(retentions).map((name) => change(statefulSets, name, withReplicas(2))),
      ),
      deleted: all(...Object.keys(retentions).map((name) => remove(statefulSets, name))),
    },
  },
];

function setOf(name: string, spec: StatefulSetSpec, image = 'v1'): StatefulSet {
  return {
    metadata: { name, labels: { app: name } },
    spec: {
      serviceName: name,
      selector: { matchLabels: { app: name } },
      template: podTemplate(name, image),
      ...spec,
    },
  };
}

function partitionOf(partition: number): object {
  return { spec: { updateStrategy: { rollingUpdate: { partition } } } };
}
