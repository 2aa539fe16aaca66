import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeObject } from '../../../../src/kube/api/meta.ts';
import type { Resource } from '../../../../src/kube/resource.ts';
import { daemonSets, pods, replicationControllers, services } from '../../../../src/kube/resources.ts';
import type { UserAction, UserScenario } from '../scenario-runner.ts';
import { all, change, create, evict, podTemplate, remove, withImage, withReplicas } from './actions.ts';

type Batch = KubeObject & { readonly spec?: object };

const batch = { group: 'batch', version: 'v1', namespaced: true } as const;
export const jobs: Resource<Batch> = { ...batch, kind: 'Job', plural: 'jobs' };
export const cronJobs: Resource<Batch> = { ...batch, kind: 'CronJob', plural: 'cronjobs' };

/** The type has no template, because none of our code reads it. */
const controllers: Resource<Batch> = { ...replicationControllers };

const pollMs = 200;
const nowhere = { spec: { template: { spec: { nodeSelector: { on: 'mars' } } } } };

/** Workloads that only kube-controller-manager has controllers for. */
export const batchScenarios: readonly UserScenario[] = [
  {
    name: 'daemon-sets',
    actions: {
      'one on each node': all(
        create(daemonSets, daemonSet('rolling')),
        create(daemonSets, daemonSet('on-delete', { updateStrategy: { type: 'OnDelete' } })),
      ),
      'another image': all(
        change(daemonSets, 'rolling', withImage('v2')),
        change(daemonSets, 'on-delete', withImage('v2')),
      ),
      evicted: all(evict('rolling'), evict('on-delete')),
      'no matching node': change(daemonSets, 'rolling', nowhere),
      deleted: all(remove(daemonSets, 'rolling', 'Foreground'), remove(daemonSets, 'on-delete', 'Orphan')),
    },
  },
  {
    name: 'replication-controllers',
    actions: {
      'three pods and their service': all(
        create(services, {
          metadata: { name: 'old' },
          spec: { clusterIP: 'None', selector: { app: 'old' } },
        }),
        create(controllers, {
          metadata: { name: 'old' },
          spec: { replicas: 3, selector: { app: 'old' }, template: podTemplate('old', 'v1') },
        }),
      ),
      'scaled down': change(replicationControllers, 'old', withReplicas(1)),
      'another image changes nothing': change(replicationControllers, 'old', withImage('v2')),
      deleted: all(remove(replicationControllers, 'old', 'Background'), remove(services, 'old')),
    },
  },
  {
    name: 'jobs',
    isStuck: true,
    actions: {
      running: all(
        create(jobs, job('two', { completions: 2, parallelism: 2 })),
        create(jobs, job('fragile', { backoffLimit: 0 })),
        create(jobs, job('indexed', { completions: 2, parallelism: 2, completionMode: 'Indexed' })),
        create(jobs, job('asleep', { suspend: true })),
        untilRunning('two', 2),
        untilRunning('fragile', 1),
        untilRunning('indexed', 2),
      ),
      'succeeded and failed': all(
        end('two', 'Succeeded'),
        end('fragile', 'Failed'),
        end('indexed', 'Succeeded'),
        ...['two', 'fragile', 'indexed'].map(untilFinished),
      ),
      resumed: all(
        change(jobs, 'asleep', { spec: { suspend: false } }),
        untilRunning('asleep', 1),
        change(jobs, 'two', { spec: { ttlSecondsAfterFinished: 0 } }),
        untilGone('two'),
      ),
      deleted: all(
        remove(jobs, 'asleep', 'Foreground'),
        remove(jobs, 'indexed', 'Background'),
        remove(jobs, 'fragile', 'Orphan'),
        ...['asleep', 'indexed', 'fragile'].map(untilGone),
      ),
    },
  },
  {
    name: 'cron-jobs',
    actions: {
      // The schedule is far in the future.
      'before the first run': all(
        create(cronJobs, cronJob('yearly')),
        create(cronJobs, cronJob('never', { suspend: true })),
      ),
      changed: change(cronJobs, 'never', { spec: { suspend: false, concurrencyPolicy: 'Forbid' } }),
      deleted: all(remove(cronJobs, 'yearly', 'Foreground'), remove(cronJobs, 'never', 'Background')),
    },
  },
];

/** A CronJob that runs each minute. The start time differs between clusters, so the results can't be compared. */
export function minutely(namespace: string): Batch {
  const made = cronJob('minutely', { schedule: '* * * * *', successfulJobsHistoryLimit: 1 });
  return { ...made, metadata: { ...made.metadata, namespace } };
}

function daemonSet(name: string, spec: object = {}) {
  return {
    metadata: { name },
    spec: { selector: { matchLabels: { app: name } }, template: podTemplate(name, 'v1'), ...spec },
  };
}

function job(app: string, spec: object): Batch {
  return { metadata: { name: app }, spec: { ...jobSpec(app), ...spec } };
}

function cronJob(name: string, spec: object = {}): Batch {
  const jobTemplate = { spec: jobSpec(name) };
  return { metadata: { name }, spec: { schedule: '0 0 1 1 *', jobTemplate, ...spec } };
}

function jobSpec(app: string): object {
  const { metadata, spec } = podTemplate(app, 'v1');
  return { template: { metadata, spec: { ...spec, restartPolicy: 'Never' } } };
}

/** Waits without a limit of its own; the test's timeout applies. */
function untilRunning(app: string, count: number): UserAction {
  return async ({ cluster, namespace }) => {
    const running = async () => {
      const { items } = await cluster.resource(pods).list({ namespace, labelSelector: `app=${app}` });
      return items.filter(({ status }) => status?.phase === 'Running').length;
    };
    while ((await running()) < count) await sleep(pollMs);
  };
}

/** Ends all pods of the app, as a kubelet would. */
function end(app: string, phase: 'Succeeded' | 'Failed'): UserAction {
  return async ({ cluster, namespace }) => {
    const { items } = await cluster.resource(pods).list({ namespace, labelSelector: `app=${app}` });
    const terminated = { exitCode: phase === 'Failed' ? 1 : 0, reason: phase };
    const containerStatuses = [
      { name: 'main', image: 'v1', imageID: '', ready: false, restartCount: 0, state: { terminated } },
    ];
    const body = { status: { phase, containerStatuses } };
    for (const { metadata } of items)
      await cluster
        .resource(pods)
        .patch({ namespace, name: metadata?.name ?? '' }, { type: 'merge', body }, { subresource: 'status' });
  };
}

function untilFinished(name: string): UserAction {
  return async ({ cluster, namespace }) => {
    const isFinished = async () => {
      const { status } = (await cluster.resource(jobs).get({ namespace, name })) as {
        readonly status?: { readonly conditions?: readonly { readonly type: string }[] };
      };
      return (status?.conditions ?? []).some(({ type }) => type === 'Complete' || type === 'Failed');
    };
    while (!(await isFinished())) await sleep(pollMs);
  };
}

function untilGone(name: string): UserAction {
  return async ({ cluster, namespace }) => {
    const isThere = async () =>
      (await cluster.resource(jobs).list({ namespace })).items.some(
        ({ metadata }) => metadata?.name === name,
      );
    while (await isThere()) await sleep(pollMs);
  };
}
