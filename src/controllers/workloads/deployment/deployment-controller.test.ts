import { expect, test } from 'vitest';
import { deployments, events, pods, replicaSets } from '../../../kube/resources.ts';
import { RealTimeCluster } from '../../testing/real-time-cluster.ts';
import {
  eventually,
  healthyNodes,
  namespace,
  podsOf,
  runControllersOn,
  setRunning,
} from '../testing/workload-fixture.ts';
import { deploymentController } from './deployment-controller.ts';
import {
  changeDeployment,
  deploymentTemplate,
  getDeployment,
  images,
  isRolledOut,
  makeDeployment,
  setsOf,
  sizes,
} from './testing/deployments.ts';

const same = (wanted: readonly string[]) => (seen: readonly string[]) => String(seen) === String(wanted);
const revision = 'deployment.kubernetes.io/revision';

test('a deployment is created, scaled, updated to a new image, and rolled back', async () => {
  await using fixture = await RealTimeCluster.start();
  const { cluster } = fixture;
  await using _controllers = runControllersOn(cluster, [deploymentController, healthyNodes(cluster)]);
  await makeDeployment(cluster, { replicas: 2 });
  const first = await eventually(() => getDeployment(cluster), isRolledOut);
  expect(first.metadata?.annotations).toEqual({ [revision]: '1' });
  expect(first.status?.conditions?.map(({ type, status, reason }) => ({ type, status, reason }))).toEqual([
    { type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable' },
    { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable' },
  ]);
  await cluster
    .resource(deployments)
    .patch(
      { namespace, name: 'web' },
      { type: 'merge', body: { spec: { replicas: 4 } } },
      { subresource: 'scale' },
    );
  await eventually(() => images(cluster), same(['v1', 'v1', 'v1', 'v1']));
  await changeDeployment(cluster, { template: deploymentTemplate('v2') });
  await eventually(() => images(cluster), same(['v2', 'v2', 'v2', 'v2']));
  const second = await eventually(() => getDeployment(cluster), isRolledOut);
  expect(second.metadata?.annotations).toEqual({ [revision]: '2' });
  await changeDeployment(cluster, { template: deploymentTemplate('v1') });
  await eventually(() => images(cluster), same(['v1', 'v1', 'v1', 'v1']));
  const third = await eventually(() => getDeployment(cluster), isRolledOut);
  expect(third.metadata?.annotations).toEqual({ [revision]: '3' });
  expect(await setsOf(cluster)).toHaveLength(2);
  const current = (await setsOf(cluster)).find(({ spec }) => spec?.replicas === 4);
  expect(current?.metadata?.annotations).toMatchObject({
    [revision]: '3',
    'deployment.kubernetes.io/revision-history': '1',
    'deployment.kubernetes.io/desired-replicas': '4',
    'deployment.kubernetes.io/max-replicas': '5',
  });
  const notes = (await cluster.resource(events).list({ namespace })).items.map(({ note }) => note);
  expect(notes).toContain(`Scaled up replica set ${current?.metadata?.name} from 0 to 2`);
  expect(notes).toContain(`Scaled up replica set ${current?.metadata?.name} from 2 to 4`);
});

test('an update never exceeds maxUnavailable or maxSurge', async () => {
  await using fixture = await RealTimeCluster.start();
  const { cluster } = fixture;
  await using _controllers = runControllersOn(cluster, [deploymentController]);
  const rollingUpdate = { maxSurge: 1, maxUnavailable: 0 };
  await makeDeployment(cluster, { replicas: 2, strategy: { type: 'RollingUpdate', rollingUpdate } });
  await eventually(() => images(cluster), same(['v1', 'v1']));
  const ready = async (image: string) => {
    for (const { metadata, spec, status } of await podsOf(cluster))
      if (spec?.containers?.[0]?.image === image && status?.phase === 'Pending')
        await setRunning(cluster, metadata?.name ?? '');
  };
  await ready('v1');
  await eventually(() => getDeployment(cluster), isRolledOut);
  await changeDeployment(cluster, { template: deploymentTemplate('v2') });
  await eventually(() => sizes(cluster), same(['v1: 2 of 2', 'v2: 1 of 1']));
  await ready('v2');
  await eventually(() => sizes(cluster), same(['v1: 1 of 1', 'v2: 2 of 2']));
  await ready('v2');
  await eventually(() => sizes(cluster), same(['v2: 2 of 2']));
});

test('with Recreate the last old pod is gone before the first new one is created', async () => {
  await using fixture = await RealTimeCluster.start();
  const { cluster } = fixture;
  await using _controllers = runControllersOn(cluster, [deploymentController, healthyNodes(cluster)]);
  await makeDeployment(cluster, { replicas: 2, strategy: { type: 'Recreate' } });
  await eventually(() => getDeployment(cluster), isRolledOut);
  const [held] = await podsOf(cluster);
  const name = held?.metadata?.name ?? '';
  const hold = { metadata: { finalizers: ['example.com/hold'] } };
  await cluster.resource(pods).patch({ namespace, name }, { type: 'merge', body: hold });
  await changeDeployment(cluster, { template: deploymentTemplate('v2') });
  await eventually(() => images(cluster), same(['v1']));
  await eventually(
    () => getDeployment(cluster),
    ({ status }) => status?.terminatingReplicas === 1,
  );
  expect(await images(cluster)).toEqual(['v1']);
  await cluster
    .resource(pods)
    .patch({ namespace, name }, { type: 'merge', body: { metadata: { finalizers: null } } });
  await eventually(() => images(cluster), same(['v2', 'v2']));
  await eventually(() => getDeployment(cluster), isRolledOut);
});

test('a paused deployment scales but does not change its template', async () => {
  await using fixture = await RealTimeCluster.start();
  const { cluster } = fixture;
  await using _controllers = runControllersOn(cluster, [deploymentController, healthyNodes(cluster)]);
  await makeDeployment(cluster, { replicas: 1 });
  await eventually(() => getDeployment(cluster), isRolledOut);
  await changeDeployment(cluster, { paused: true, replicas: 3, template: deploymentTemplate('v2') });
  await eventually(() => images(cluster), same(['v1', 'v1', 'v1']));
  const paused = await eventually(
    () => getDeployment(cluster),
    ({ status }) => status?.availableReplicas === 3,
  );
  expect(paused.status?.conditions?.find(({ type }) => type === 'Progressing')?.reason).toBe(
    'DeploymentPaused',
  );
  await changeDeployment(cluster, { paused: false });
  await eventually(() => images(cluster), same(['v2', 'v2', 'v2']));
  await eventually(() => getDeployment(cluster), isRolledOut);
});

test('old replica sets beyond the limit are deleted', async () => {
  await using fixture = await RealTimeCluster.start();
  const { cluster } = fixture;
  await using _controllers = runControllersOn(cluster, [deploymentController, healthyNodes(cluster)]);
  await makeDeployment(cluster, { replicas: 1, revisionHistoryLimit: 1 });
  for (const image of ['v1', 'v2', 'v3', 'v4']) {
    await changeDeployment(cluster, { template: deploymentTemplate(image) });
    await eventually(() => images(cluster), same([image]));
  }
  const left = async () =>
    (await setsOf(cluster)).map(({ metadata }) => metadata?.annotations?.[revision] ?? '').toSorted();
  await eventually(left, same(['3', '4']));
});

test('a pod whose labels change is released, and one that matches is adopted', async () => {
  await using fixture = await RealTimeCluster.start();
  const { cluster } = fixture;
  await using _controllers = runControllersOn(cluster, [deploymentController, healthyNodes(cluster)]);
  await cluster.resource(replicaSets).create({
    metadata: { namespace, name: 'web' },
    spec: { replicas: 2, selector: { matchLabels: { app: 'web' } }, template: deploymentTemplate('v1') },
  });
  const [first] = await eventually(
    () => podsOf(cluster),
    ({ length }) => length === 2,
  );
  const key = { namespace, name: first?.metadata?.name ?? '' };
  await cluster.resource(pods).patch(key, { type: 'merge', body: { metadata: { labels: { app: 'none' } } } });
  await eventually(
    () => podsOf(cluster),
    ({ length }) => length === 3,
  );
  expect((await cluster.resource(pods).get(key)).metadata?.ownerReferences).toBeUndefined();
  await cluster.resource(pods).patch(key, { type: 'merge', body: { metadata: { labels: { app: 'web' } } } });
  const kept = await eventually(
    () => podsOf(cluster),
    ({ length }) => length === 2,
  );
  expect(kept.every(({ metadata }) => metadata?.ownerReferences?.[0]?.name === 'web')).toBe(true);
});

test('a replacement never has the name of a pod before it', async () => {
  await using fixture = await RealTimeCluster.start();
  const { cluster } = fixture;
  await using _controllers = runControllersOn(cluster, [deploymentController, healthyNodes(cluster)]);
  await makeDeployment(cluster, { replicas: 1 });
  const names = new Set<string>();
  for (let round = 0; round < 4; round++) {
    const [pod] = await eventually(
      () => podsOf(cluster),
      ([only]) => only !== undefined && !names.has(only.metadata?.uid ?? ''),
    );
    const { name = '', uid = '' } = pod?.metadata ?? {};
    expect(names).not.toContain(name);
    names.add(name).add(uid);
    await cluster.resource(pods).delete({ namespace, name }, { gracePeriodSeconds: 0 });
  }
});
