import { expect, test } from 'vitest';
import type { Cluster } from '../../cluster/cluster.ts';
import { InterceptedCluster } from '../../cluster/intercepted-cluster.ts';
import { pods, replicaSets } from '../../kube/resources.ts';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import { RealTimeCluster } from '../testing/real-time-cluster.ts';
import { deploymentController } from './deployment/deployment-controller.ts';
import { deploymentTemplate, getDeployment, makeDeployment } from './deployment/testing/deployments.ts';
import { statefulSetController } from './stateful-set/stateful-set-controller.ts';
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

test('a set continues when a pod has been ready for long enough, without any event', async () => {
  const clock = new VirtualClock(Date.parse(start));
  await using fixture = await RealTimeCluster.start();
  const { cluster } = fixture;
  await using _controllers = runControllersOn(cluster, [statefulSetController], { clock });
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

test('a deployment without progress reports it when its deadline is over', async () => {
  const clock = new VirtualClock(Date.parse(start));
  await using fixture = await RealTimeCluster.start();
  const { cluster } = fixture;
  await using _controllers = runControllersOn(cluster, [deploymentController], { clock });
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

/** The cluster, but without events of pods after the start. */
function withoutPodEvents(cluster: Cluster): Cluster {
  return new InterceptedCluster(cluster, {
    onWatchEvent: ({ resource }) => (resource.plural === pods.plural ? 'drop' : undefined),
  });
}

test('controllers whose cache never shows the pods that they created do not create them again', async () => {
  await using fixture = await RealTimeCluster.start();
  const { cluster } = fixture;
  await using _controllers = runControllersOn(withoutPodEvents(cluster), [
    deploymentController,
    statefulSetController,
  ]);
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
