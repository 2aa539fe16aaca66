import { asTable, get, patch, post, type Scenario, scenario } from '../scenario.ts';
import { changes, creations } from './variations.ts';

const sets = '/apis/apps/v1/namespaces/{{ns}}/statefulsets';
const labels = { a: 'b' };
const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'x:1' }] } };
const claim = {
  metadata: { name: 'data' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
};
const set = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 's' },
  spec: {
    replicas: 2,
    serviceName: 'x',
    selector: { matchLabels: labels },
    template,
    volumeClaimTemplates: [claim],
  },
};

function apps(kind: string, spec: object): object {
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name: 'w' },
    spec: { selector: { matchLabels: labels }, template, ...spec },
  };
}

const job = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'j' },
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'x:1' }] } } },
};
const cron = {
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name: 'cj' },
  spec: { schedule: '0 0 * * *', jobTemplate: { spec: job.spec } },
};

export const workloadScenarios: readonly Scenario[] = [
  creations('stateful sets that are refused', sets, set, [
    { spec: null },
    { spec: { selector: null } },
    { spec: { selector: { matchLabels: { a: 'c' } } } },
    { spec: { selector: { matchLabels: null } } },
    { spec: { selector: { matchLabels: { 'bad key!': 'x' } } } },
    { spec: { replicas: -1 } },
    { spec: { template: null } },
    { spec: { template: { metadata: { labels: null } } } },
    { spec: { template: { spec: { restartPolicy: 'Never' } } } },
    { spec: { template: { spec: { activeDeadlineSeconds: 5 } } } },
    { spec: { template: { spec: { containers: [] } } } },
    { spec: { podManagementPolicy: 'Random' } },
    { spec: { updateStrategy: { type: 'Odd' } } },
    { spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: { partition: 1 } } } },
    { spec: { updateStrategy: { rollingUpdate: { partition: -1, maxUnavailable: '0%' } } } },
    { spec: { minReadySeconds: -1, revisionHistoryLimit: -1 } },
    { spec: { ordinals: { start: -1 } } },
    { spec: { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Odd' } } },
    { spec: { serviceName: 'Bad_Name' } },
    { spec: { serviceName: null } },
    { spec: { volumeClaimTemplates: [{ metadata: { name: 'x' } }] } },
    { spec: { volumeClaimTemplates: [{ ...claim, metadata: { name: 'Bad_Name' } }] } },
    { spec: { volumeClaimTemplates: [{ ...claim, spec: { ...claim.spec, accessModes: ['Odd'] } }] } },
    { metadata: { name: 'x'.repeat(64) } },
    { metadata: { name: 'a.b' } },
  ]),
  changes({
    name: 'changes of stateful sets',
    collection: sets,
    object: set,
    changes: [
      { spec: { replicas: 5 } },
      { spec: { replicas: null } },
      { spec: { serviceName: 'other' } },
      { spec: { selector: { matchLabels: { a: 'c' } } } },
      { spec: { template: { metadata: { labels: { a: 'c' } } } } },
      { spec: { template: { spec: { containers: [{ name: 'c', image: 'y:2' }] } } } },
      { spec: { podManagementPolicy: 'Parallel' } },
      { spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: null } } },
      { spec: { revisionHistoryLimit: 2 } },
      { spec: { minReadySeconds: 3 } },
      { spec: { ordinals: { start: 1 } } },
      { spec: { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete' } } },
      { spec: { volumeClaimTemplates: [{ ...claim, metadata: { name: 'other' } }] } },
      { spec: { volumeClaimTemplates: null } },
      { status: { replicas: 2 } },
    ],
  }),
  changes({
    name: 'changes of the status of stateful sets',
    collection: sets,
    object: set,
    subresource: 'status',
    changes: [
      { status: { replicas: 2, readyReplicas: 3 } },
      { status: { replicas: -1 } },
      {
        status: {
          replicas: 2,
          currentReplicas: 1,
          updatedReplicas: 1,
          availableReplicas: 1,
          readyReplicas: 1,
          observedGeneration: -1,
        },
      },
      { status: { replicas: 2, collisionCount: -1 } },
      { status: { replicas: 2 }, spec: { replicas: 9 } },
    ],
  }),
  creations(
    'deployments that are refused',
    '/apis/apps/v1/namespaces/{{ns}}/deployments',
    apps('Deployment', {}),
    [
      { spec: { selector: null } },
      { spec: { replicas: -1, minReadySeconds: -1, revisionHistoryLimit: -1, progressDeadlineSeconds: 0 } },
      { spec: { strategy: { type: 'Odd' } } },
      { spec: { strategy: { type: 'Recreate', rollingUpdate: {} } } },
      { spec: { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: '0%' } } } },
      { spec: { strategy: { rollingUpdate: { maxSurge: '-1%', maxUnavailable: 'x' } } } },
      { spec: { strategy: { rollingUpdate: { maxUnavailable: '101%' } } } },
      { spec: { minReadySeconds: 700 } },
      { spec: { template: { spec: { restartPolicy: 'OnFailure' } } } },
    ],
  ),
  creations(
    'daemon sets that are refused',
    '/apis/apps/v1/namespaces/{{ns}}/daemonsets',
    apps('DaemonSet', {}),
    [
      { spec: { selector: { matchLabels: { x: 'y' } } } },
      { spec: { updateStrategy: { type: 'Odd' } } },
      { spec: { updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } } },
      { spec: { updateStrategy: { rollingUpdate: { maxUnavailable: 0 } } } },
      { spec: { revisionHistoryLimit: -1 } },
    ],
  ),
  creations(
    'replica sets that are refused',
    '/apis/apps/v1/namespaces/{{ns}}/replicasets',
    apps('ReplicaSet', {}),
    [
      { spec: { selector: null } },
      { spec: { replicas: -1 } },
      { spec: { template: { metadata: { labels: { a: 'c' } } } } },
      { spec: { template: null } },
    ],
  ),
  creations('jobs that are refused', '/apis/batch/v1/namespaces/{{ns}}/jobs', job, [
    { spec: null },
    { spec: { template: { spec: { restartPolicy: 'Always' } } } },
    {
      spec: {
        parallelism: -1,
        completions: -1,
        backoffLimit: -1,
        activeDeadlineSeconds: -1,
        ttlSecondsAfterFinished: -1,
      },
    },
    { spec: { completionMode: 'Indexed' } },
    { spec: { completionMode: 'Odd' } },
    { spec: { selector: { matchLabels: { a: 'b' } } } },
    { spec: { manualSelector: true } },
    { spec: { backoffLimitPerIndex: 1 } },
    { spec: { podFailurePolicy: { rules: [{ action: 'Odd' }] } } },
    { spec: { podReplacementPolicy: 'Odd' } },
    { spec: { managedBy: 'odd name' } },
    { metadata: { name: 'x'.repeat(64) } },
  ]),
  creations('cron jobs that are refused', '/apis/batch/v1/namespaces/{{ns}}/cronjobs', cron, [
    { spec: { schedule: '' } },
    { spec: { schedule: 'every day' } },
    { spec: { schedule: 'TZ=UTC 0 0 * * *' } },
    { spec: { schedule: '61 * * * *' } },
    { spec: { timeZone: 'Moon/Base' } },
    { spec: { timeZone: '' } },
    { spec: { concurrencyPolicy: 'Odd', startingDeadlineSeconds: -1, successfulJobsHistoryLimit: -1 } },
    { spec: { jobTemplate: { spec: { template: { spec: { restartPolicy: 'Always' } } } } } },
    { metadata: { name: 'x'.repeat(53) } },
  ]),
  creations(
    'replication controllers that are refused',
    '/api/v1/namespaces/{{ns}}/replicationcontrollers',
    {
      metadata: { name: 'rc' },
      spec: { template },
    },
    [
      { spec: null },
      { spec: { template: null } },
      { spec: { selector: { x: 'y' } } },
      { spec: { replicas: -1 } },
      { spec: { template: { metadata: null } } },
    ],
  ),
  scenario(
    'tables of workloads with a status',
    post(sets, set, { form: 'metadata' }),
    patch('merge', `${sets}/s/status`, { status: { replicas: 2, readyReplicas: 1 } }),
    get(sets, { accept: asTable }),
    get(`${sets}/s/scale`),
    patch('merge', `${sets}/s/scale`, { spec: { replicas: 0 } }),
    get(`${sets}/s`, { accept: asTable }),
    get(`${sets}?fieldSelector=spec.replicas%3D1`),
  ),
];
