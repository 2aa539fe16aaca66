import { expect, test } from 'vitest';
import type { Cluster, ResourceClient } from '../../cluster/cluster.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import type { Resource } from '../../kube/resource.ts';
import { pods, replicaSets } from '../../kube/resources.ts';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import { RealTimeCluster } from '../testing/real-time-cluster.ts';
import { deployment } from './deployment/deployment-controller.ts';
import { deploymentTemplate, getDeployment, makeDeployment } from './deployment/testing/deployments.ts';
import { statefulSet } from './stateful-set/stateful-set-controller.ts';
import { getSet, makeSet } from './stateful-set/testing/sets.ts';
import {
  eventually,
  namespace,
  podNames,
  podsOf,
  runControllersOn,
  setRunning,
} from './testing/workload-fixture.ts';

const start = '2026-11-15T12:00:00Z';

test('a set goes on when a pod has been ready for long enough, without anything else happening', async () => {
  const clock = new VirtualClock(Date.parse(start));
  await using fixture = await RealTimeCluster.start();
  const { cluster } = fixture;
  await using _controllers = runControllersOn(cluster, [statefulSet], { clock });
  await makeSet(cluster, { replicas: 2, minReadySeconds: 10 });
  await eventually(
    () => podNames(cluster),
    ({ length }) => length === 1,
  );
  await setRunning(cluster, 'web-0', { since: start });
  const early = await eventually(
    () => getSet(cluster),
    ({ status }) => status?.readyReplicas === 1,
  );
  expect(early.status?.availableReplicas).toBe(0);
  await clock.advance(9_999);
  expect(await podNames(cluster)).toEqual(['web-0']);
  await clock.advance(1);
  await eventually(
    () => podNames(cluster),
    ({ length }) => length === 2,
  );
});

test('a deployment that makes no progress says so when its time is up', async () => {
  const clock = new VirtualClock(Date.parse(start));
  await using fixture = await RealTimeCluster.start();
  const { cluster } = fixture;
  await using _controllers = runControllersOn(cluster, [deployment], { clock });
  await makeDeployment(cluster, { replicas: 1, progressDeadlineSeconds: 60 });
  const progressOf = async () => {
    const { status } = await getDeployment(cluster);
    return status?.conditions?.find(({ type }) => type === 'Progressing')?.reason;
  };
  await eventually(progressOf, (reason) => reason === 'ReplicaSetUpdated');
  await clock.advance(59_000);
  expect(await progressOf()).toBe('ReplicaSetUpdated');
  await clock.advance(3_000);
  await eventually(progressOf, (reason) => reason === 'ProgressDeadlineExceeded');
  const [pod] = await podsOf(cluster);
  await setRunning(cluster, pod?.metadata?.name ?? '');
  await eventually(progressOf, (reason) => reason === 'NewReplicaSetAvailable');
});

/** A way to the cluster on which nothing is heard of pods after the beginning. */
function deafToPods(cluster: Cluster): Cluster {
  return {
    resource<T extends KubeObject>(resource: Resource<T>): ResourceClient<T> {
      const client = cluster.resource(resource);
      if (resource.plural !== pods.plural) return client;
      return new Proxy(client, {
        get(target, name) {
          if (name === 'watch') return silence;
          const member: unknown = Reflect.get(target, name, target);
          return typeof member === 'function' ? member.bind(target) : member;
        },
      });
    },
  };
}

async function* silence({ signal }: { readonly signal: AbortSignal }): AsyncGenerator<never> {
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

test('controllers whose cache never hears of the pods that they made do not make them again', async () => {
  await using fixture = await RealTimeCluster.start();
  const { cluster } = fixture;
  await using _controllers = runControllersOn(deafToPods(cluster), [deployment, statefulSet]);
  const spec = { replicas: 2, selector: { matchLabels: { app: 'front' } } };
  const template = { ...deploymentTemplate('v1'), metadata: { labels: { app: 'front' } } };
  await cluster
    .resource(replicaSets)
    .create({ metadata: { namespace, name: 'front' }, spec: { ...spec, template } });
  await makeSet(cluster, { replicas: 2, podManagementPolicy: 'Parallel' });
  const made = await eventually(
    () => podNames(cluster),
    ({ length }) => length === 4,
  );
  for (let round = 1; round <= 20; round++) {
    const annotations = { round: String(round) };
    const touch = {
      type: 'merge',
      body: { metadata: { annotations }, spec: { minReadySeconds: round } },
    } as const;
    await cluster.resource(replicaSets).patch({ namespace, name: 'front' }, touch);
    await eventually(
      () => cluster.resource(replicaSets).get({ namespace, name: 'front' }),
      ({ metadata, status }) => status?.observedGeneration === metadata?.generation && status?.replicas === 2,
    );
  }
  expect(await podNames(cluster)).toEqual(made);
});
