import { expect, test } from 'vitest';
import type { Cluster } from '../../../cluster/cluster.ts';
import type { PodDisruptionBudget, PodDisruptionBudgetSpec } from '../../../kube/api/policy.ts';
import { isReason } from '../../../kube/api-error.ts';
import { events, podDisruptionBudgets, pods } from '../../../kube/resources.ts';
import { VirtualClock } from '../../../runtime/virtual-clock.ts';
import { RealTimeCluster } from '../../testing/real-time-cluster.ts';
import { deploymentController } from '../deployment/deployment-controller.ts';
import { changeDeployment, makeDeployment } from '../deployment/testing/deployments.ts';
import {
  eventually,
  healthyNodes,
  namespace,
  podsOf,
  runControllersOn,
  setRunning,
  setStatus,
} from '../testing/workload-fixture.ts';
import { disruptionController } from './disruption-controller.ts';

const key = { namespace, name: 'web' };
const selector = { matchLabels: { app: 'web' } };

async function makeBudget(cluster: Cluster, spec: PodDisruptionBudgetSpec): Promise<void> {
  await cluster.resource(podDisruptionBudgets).create({ metadata: key, spec: { selector, ...spec } });
}

async function getBudget(cluster: Cluster): Promise<PodDisruptionBudget> {
  return await cluster.resource(podDisruptionBudgets).get(key);
}

async function evict(cluster: Cluster, name: string): Promise<unknown> {
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { namespace, name } };
  return await cluster.resource(pods).post({ namespace, name }, 'eviction', body);
}

test('a budget follows the scale of the deployment of its pods, and evictions respect it', async () => {
  await using fixture = await RealTimeCluster.start();
  const { cluster } = fixture;
  await using _controllers = runControllersOn(cluster, [
    deploymentController,
    disruptionController,
    healthyNodes(cluster),
  ]);
  await makeDeployment(cluster, { replicas: 3 });
  await makeBudget(cluster, { maxUnavailable: 1 });
  const { status } = await eventually(
    () => getBudget(cluster),
    (budget) => budget.status?.disruptionsAllowed === 1,
  );
  expect(status).toMatchObject({
    currentHealthy: 3,
    desiredHealthy: 2,
    expectedPods: 3,
    observedGeneration: 1,
  });
  expect(status?.conditions).toMatchObject([
    {
      type: 'DisruptionAllowed',
      status: 'True',
      reason: 'SufficientPods',
      message: '',
      observedGeneration: 1,
    },
  ]);
  await changeDeployment(cluster, { replicas: 4 });
  await eventually(
    () => getBudget(cluster),
    (budget) => budget.status?.desiredHealthy === 3,
  );
  await eventually(
    () => getBudget(cluster),
    (budget) => budget.status?.disruptionsAllowed === 1,
  );
  const [first] = await podsOf(cluster);
  await evict(cluster, first?.metadata?.name ?? '');
  const again = await eventually(
    () => getBudget(cluster),
    (budget) => budget.status?.disruptedPods === undefined && budget.status?.disruptionsAllowed === 1,
  );
  expect(again.status?.currentHealthy).toBe(4);
});

test('a granted eviction counts until the pod is gone, or evidently stays', async () => {
  await using fixture = await RealTimeCluster.start();
  const { cluster } = fixture;
  for (const name of ['a', 'b']) await makePod(cluster, name);
  const granted = await creationOf(cluster, 'a');
  const clock = new VirtualClock(Date.parse(granted));
  await makeBudget(cluster, { minAvailable: 1 });
  await using _controllers = runControllersOn(cluster, [disruptionController], { clock });
  await eventually(
    () => getBudget(cluster),
    (budget) => budget.status?.disruptionsAllowed === 1,
  );
  const disruptedPods = { a: granted };
  await grant(cluster, disruptedPods);
  const waiting = await eventually(
    () => getBudget(cluster),
    (budget) => budget.status?.currentHealthy === 1,
  );
  expect(waiting.status).toMatchObject({ disruptionsAllowed: 0, disruptedPods });
  await expect(evict(cluster, 'b')).rejects.toSatisfy((error) => isReason(error, 'TooManyRequests'));
  await clock.advance(120_001);
  const back = await eventually(
    () => getBudget(cluster),
    (budget) => budget.status?.disruptionsAllowed === 1,
  );
  expect(back.status?.disruptedPods).toBeUndefined();
  const notes = await eventually(
    async () => (await cluster.resource(events).list({ namespace })).items.map(({ note }) => note),
    (seen) => seen.some((note) => note?.includes('to be deleted') === true),
  );
  expect(notes).toContain("Pod was expected by PDB default/default to be deleted but it wasn't");
});

test('a granted eviction is over when the next pod of the name exists, however soon', async () => {
  await using fixture = await RealTimeCluster.start();
  const { cluster } = fixture;
  for (const name of ['a', 'b']) await makePod(cluster, name);
  const clock = new VirtualClock(Date.parse(await creationOf(cluster, 'a')));
  await using _controllers = runControllersOn(cluster, [disruptionController], { clock });
  await makeBudget(cluster, { minAvailable: 1 });
  await eventually(
    () => getBudget(cluster),
    (budget) => budget.status?.disruptionsAllowed === 1,
  );
  await cluster.resource(pods).delete({ namespace, name: 'a' }, { gracePeriodSeconds: 0 });
  await makePod(cluster, 'a');
  // As if the budget was the last object that we observed.
  await grant(cluster, { a: await creationOf(cluster, 'a') });
  const { status } = await eventually(
    () => getBudget(cluster),
    (budget) => budget.status?.disruptionsAllowed === 1 && budget.status.disruptedPods === undefined,
  );
  expect(status?.currentHealthy).toBe(2);
});

test('if the expected number of pods is unknown, no disruption is allowed', async () => {
  await using fixture = await RealTimeCluster.start();
  const { cluster } = fixture;
  await using _controllers = runControllersOn(cluster, [disruptionController]);
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'gone', uid: 'u', controller: true };
  await makePod(cluster, 'a', [owner]);
  await makeBudget(cluster, { maxUnavailable: 1 });
  const { status } = await eventually(
    () => getBudget(cluster),
    (budget) => budget.status?.conditions?.[0]?.reason === 'SyncFailed',
  );
  expect(status?.disruptionsAllowed).toBe(0);
  expect(status?.conditions?.[0]?.message).toBe('found no controllers for pod "a"');
});

test('an announced disruption that never happens is withdrawn', async () => {
  const clock = new VirtualClock(Date.parse('2026-11-15T12:00:00Z'));
  await using fixture = await RealTimeCluster.start();
  const { cluster } = fixture;
  await makePod(cluster, 'a');
  const lastTransitionTime = '2026-11-15T12:00:00Z';
  const conditions = [
    { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI', lastTransitionTime },
  ];
  await setStatus(cluster, 'a', { conditions });
  await makeBudget(cluster, { minAvailable: 1 });
  await using _controllers = runControllersOn(cluster, [disruptionController], { clock });
  await eventually(
    () => getBudget(cluster),
    (budget) => budget.status?.expectedPods === 1,
  );
  await clock.advance(120_000);
  await eventually(
    () => cluster.resource(pods).get({ namespace, name: 'a' }),
    ({ status }) => status?.conditions?.[0]?.status === 'False',
  );
});

async function creationOf(cluster: Cluster, name: string): Promise<string> {
  const { metadata } = await cluster.resource(pods).get({ namespace, name });
  return metadata?.creationTimestamp ?? '';
}

/** Writes the status that the server writes before it deletes the pods. */
async function grant(cluster: Cluster, disruptedPods: Readonly<Record<string, string>>): Promise<void> {
  const body = { status: { disruptedPods, disruptionsAllowed: 0 } };
  await cluster.resource(podDisruptionBudgets).patch(key, { type: 'merge', body }, { subresource: 'status' });
}

async function makePod(
  cluster: Cluster,
  name: string,
  ownerReferences: readonly object[] = [],
): Promise<void> {
  await cluster.resource(pods).create({
    metadata: { namespace, name, labels: { app: 'web' }, ownerReferences },
    spec: { nodeName: 'n1', containers: [{ name: 'main', image: 'pause' }] },
  });
  await setRunning(cluster, name);
}
