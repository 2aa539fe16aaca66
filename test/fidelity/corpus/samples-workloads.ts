import type { Sample } from './lifecycle.ts';

const labels = { app: 'x' };
const selector = { matchLabels: labels };
const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'nginx:1' }] } };
const once = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'job:1' }] } };
const condition = { type: 'Progressing', status: 'True', lastTransitionTime: '2020-01-01T00:00:00Z' };

export const workloadSamples: readonly Sample[] = [
  {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    plural: 'statefulsets',
    minimal: { spec: { selector, template } },
    rich: {
      spec: {
        replicas: 3,
        serviceName: 'db',
        selector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['x', 'y'] }] },
        template,
        podManagementPolicy: 'Parallel',
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1, maxUnavailable: '50%' } },
        revisionHistoryLimit: 3,
        minReadySeconds: 5,
        ordinals: { start: 2 },
        persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Retain' },
        volumeClaimTemplates: [
          {
            metadata: { name: 'data', labels: { a: 'b' } },
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1024Mi' } } },
          },
          {
            metadata: { name: 'raw' },
            spec: {
              accessModes: ['ReadWriteOncePod'],
              volumeMode: 'Block',
              storageClassName: 'fast',
              resources: { requests: { storage: '2Gi' } },
            },
          },
        ],
      },
    },
    change: { spec: { replicas: 5, template: { metadata: { labels: { app: 'y' } } } } },
    status: {
      status: {
        replicas: 3,
        readyReplicas: 2,
        currentReplicas: 3,
        updatedReplicas: 1,
        availableReplicas: 1,
        currentRevision: 'a',
        updateRevision: 'b',
        observedGeneration: 1,
        collisionCount: 0,
      },
    },
  },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    plural: 'deployments',
    minimal: { spec: { selector, template } },
    rich: {
      spec: {
        replicas: 2,
        selector,
        template,
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } },
        paused: true,
        minReadySeconds: 1,
        progressDeadlineSeconds: 60,
        revisionHistoryLimit: 0,
      },
    },
    change: { spec: { replicas: 0, strategy: { type: 'Recreate', rollingUpdate: null } } },
    status: {
      status: {
        replicas: 2,
        updatedReplicas: 2,
        readyReplicas: 1,
        availableReplicas: 1,
        unavailableReplicas: 1,
        conditions: [condition],
      },
    },
  },
  {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    plural: 'replicasets',
    minimal: { spec: { selector, template } },
    rich: { spec: { replicas: 2, minReadySeconds: 1, selector, template } },
    change: { spec: { replicas: 1, template: { spec: { priorityClassName: 'p' } } } },
    status: {
      status: {
        replicas: 2,
        fullyLabeledReplicas: 2,
        readyReplicas: 1,
        availableReplicas: 1,
        observedGeneration: 1,
      },
    },
  },
  {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    plural: 'daemonsets',
    minimal: { spec: { selector, template } },
    rich: {
      spec: {
        selector,
        template,
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '10%', maxUnavailable: 0 } },
        revisionHistoryLimit: 2,
      },
    },
    change: { spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: null } } },
    status: {
      status: {
        currentNumberScheduled: 1,
        desiredNumberScheduled: 1,
        numberReady: 1,
        numberMisscheduled: 0,
        numberAvailable: 1,
      },
    },
  },
  {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    plural: 'controllerrevisions',
    minimal: { revision: 1, data: { a: 1 } },
    rich: { revision: 2, data: { spec: { template } } },
    change: { revision: 3 },
  },
  {
    apiVersion: 'v1',
    kind: 'ReplicationController',
    plural: 'replicationcontrollers',
    minimal: { spec: { template } },
    rich: { spec: { replicas: 2, selector: labels, template, minReadySeconds: 1 } },
    change: { spec: { replicas: 1 } },
    status: { status: { replicas: 2, readyReplicas: 1 } },
  },
  {
    apiVersion: 'batch/v1',
    kind: 'Job',
    plural: 'jobs',
    minimal: { spec: { template: once } },
    rich: {
      spec: {
        template: once,
        completions: 3,
        parallelism: 2,
        completionMode: 'Indexed',
        backoffLimitPerIndex: 1,
        maxFailedIndexes: 2,
        activeDeadlineSeconds: 100,
        ttlSecondsAfterFinished: 10,
        suspend: true,
        podFailurePolicy: { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }] },
      },
    },
    change: { spec: { parallelism: 1, suspend: false } },
    status: { status: { active: 1, ready: 1 } },
  },
  {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    plural: 'cronjobs',
    minimal: { spec: { schedule: '@daily', jobTemplate: { spec: { template: once } } } },
    rich: {
      spec: {
        schedule: '*/5 1-3 * JAN MON',
        timeZone: 'Europe/Berlin',
        startingDeadlineSeconds: 10,
        concurrencyPolicy: 'Forbid',
        suspend: true,
        successfulJobsHistoryLimit: 1,
        failedJobsHistoryLimit: 2,
        jobTemplate: { metadata: { labels }, spec: { template: once } },
      },
    },
    change: { spec: { suspend: false, schedule: '0 0 * * *' } },
    status: { status: { lastScheduleTime: '2020-01-01T00:00:00Z' } },
  },
];
