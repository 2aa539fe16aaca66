import { expect, test } from 'vitest';
import { controllerRevisions, events, persistentVolumeClaims, pods } from '../../../kube/resources.ts';
import { RealTimeCluster } from '../../testing/real-time-cluster.ts';
import { garbageCollectorController } from '../garbage-collector.ts';
import {
  eventually,
  healthyNodes,
  namespace,
  podNames,
  podsOf,
  runControllersOn,
  setRunning,
  setStatus,
} from '../testing/workload-fixture.ts';
import { statefulSetController } from './stateful-set-controller.ts';
import { changeSet, claimLines, dataTemplate, getSet, makeSet, setTemplate } from './testing/sets.ts';

const same = (wanted: readonly string[]) => (seen: readonly string[]) => String(seen) === String(wanted);

test('pods are created one after the other, each when the one before is ready', async () => {
  await using fixture = await RealTimeCluster.start();
  const { cluster } = fixture;
  await using _controllers = runControllersOn(cluster, [statefulSetController]);
  await makeSet(cluster, { replicas: 3, volumeClaimTemplates: [dataTemplate] });
  await eventually(() => podNames(cluster), same(['web-0']));
  await eventually(
    () => getSet(cluster),
    ({ status }) => status?.replicas === 1,
  );
  expect(await claimLines(cluster)).toEqual(['data-web-0']);
  await setRunning(cluster, 'web-0', { isReady: false });
  await eventually(
    () => getSet(cluster),
    ({ status }) => status?.replicas === 1,
  );
  await setRunning(cluster, 'web-0');
  await eventually(() => podNames(cluster), same(['web-0', 'web-1']));
  await setRunning(cluster, 'web-1');
  await eventually(() => podNames(cluster), same(['web-0', 'web-1', 'web-2']));
  await setRunning(cluster, 'web-2');
  const { status, metadata } = await eventually(
    () => getSet(cluster),
    (set) => set.status?.readyReplicas === 3,
  );
  expect(status).toMatchObject({
    observedGeneration: metadata?.generation,
    replicas: 3,
    availableReplicas: 3,
    currentReplicas: 3,
    updatedReplicas: 3,
    collisionCount: 0,
  });
  expect(status?.currentRevision).toBe(status?.updateRevision);
});

test('a pod has its name, its host name, its labels and its claim', async () => {
  await using fixture = await RealTimeCluster.start();
  const { cluster } = fixture;
  await using _controllers = runControllersOn(cluster, [statefulSetController]);
  await makeSet(cluster, { volumeClaimTemplates: [dataTemplate], ordinals: { start: 5 } });
  const [pod] = await eventually(
    () => podsOf(cluster),
    ({ length }) => length === 1,
  );
  const set = await eventually(
    () => getSet(cluster),
    ({ status }) => status?.updateRevision !== undefined,
  );
  expect(pod?.metadata?.labels).toEqual({
    app: 'web',
    'statefulset.kubernetes.io/pod-name': 'web-5',
    'apps.kubernetes.io/pod-index': '5',
    'controller-revision-hash': set.status?.updateRevision,
  });
  expect(pod?.spec).toMatchObject({ hostname: 'web-5', subdomain: 'web' });
  expect(pod?.spec?.volumes?.[0]).toEqual({
    name: 'data',
    persistentVolumeClaim: { claimName: 'data-web-5' },
  });
  const claim = await cluster.resource(persistentVolumeClaims).get({ namespace, name: 'data-web-5' });
  expect(claim.metadata?.labels).toEqual({ app: 'web', tier: 'disk' });
  const notes = await eventually(
    async () => (await cluster.resource(events).list({ namespace })).items.map(({ note }) => note),
    ({ length }) => length === 2,
  );
  expect(notes.toSorted()).toEqual([
    'Create Claim data-web-5 Pod web-5 in StatefulSet web success',
    'Create Pod web-5 in StatefulSet web successful',
  ]);
});

test('in parallel all pods are created and deleted at once', async () => {
  await using fixture = await RealTimeCluster.start();
  const { cluster } = fixture;
  await using _controllers = runControllersOn(cluster, [statefulSetController]);
  await makeSet(cluster, { replicas: 3, podManagementPolicy: 'Parallel' });
  await eventually(() => podNames(cluster), same(['web-0', 'web-1', 'web-2']));
  await changeSet(cluster, { replicas: 0 });
  await eventually(() => podNames(cluster), same([]));
  await eventually(
    () => getSet(cluster),
    ({ status }) => status?.replicas === 0,
  );
});

test('an update goes from the highest pod down to the partition, and further when the partition is lowered', async () => {
  await using fixture = await RealTimeCluster.start();
  const { cluster } = fixture;
  await using _controllers = runControllersOn(cluster, [statefulSetController, healthyNodes(cluster)]);
  await makeSet(cluster, { replicas: 3 });
  await eventually(
    () => getSet(cluster),
    ({ status }) => status?.readyReplicas === 3,
  );
  const images = async () => (await podsOf(cluster)).map(({ spec }) => spec?.containers?.[0]?.image ?? '');
  await changeSet(cluster, {
    template: setTemplate('v2'),
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } },
  });
  await eventually(images, same(['v1', 'v2', 'v2']));
  const half = await eventually(
    () => getSet(cluster),
    ({ status }) => status?.readyReplicas === 3,
  );
  expect(half.status).toMatchObject({ currentReplicas: 1, updatedReplicas: 2 });
  await changeSet(cluster, { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } } });
  await eventually(images, same(['v2', 'v2', 'v2']));
  await eventually(
    () => getSet(cluster),
    ({ status }) => status?.currentRevision === status?.updateRevision && status?.currentReplicas === 3,
  );
});

test('an older template becomes the newest revision again, and old ones beyond the limit are deleted', async () => {
  await using fixture = await RealTimeCluster.start();
  const { cluster } = fixture;
  await using _controllers = runControllersOn(cluster, [statefulSetController, healthyNodes(cluster)]);
  await makeSet(cluster, { replicas: 1, revisionHistoryLimit: 1 });
  const numbers = async () => {
    const { items } = await cluster.resource(controllerRevisions).list({ namespace });
    return items.map(({ revision }) => String(revision)).toSorted();
  };
  const settled = async (revision: string) => {
    await eventually(numbers, (seen) => seen.includes(revision));
    await eventually(
      () => getSet(cluster),
      ({ metadata, status }) =>
        status?.observedGeneration === metadata?.generation &&
        status?.currentRevision === status?.updateRevision &&
        status?.readyReplicas === 1,
    );
  };
  await settled('1');
  await changeSet(cluster, { template: setTemplate('v2') });
  await settled('2');
  await changeSet(cluster, { template: setTemplate('v1') });
  await settled('3');
  await eventually(numbers, same(['2', '3']));
  await changeSet(cluster, { template: setTemplate('v3') });
  await settled('4');
  await eventually(numbers, same(['3', '4']));
});

test('with OnDelete a pod is updated when a user deletes it', async () => {
  await using fixture = await RealTimeCluster.start();
  const { cluster } = fixture;
  await using _controllers = runControllersOn(cluster, [statefulSetController, healthyNodes(cluster)]);
  await makeSet(cluster, { replicas: 2, updateStrategy: { type: 'OnDelete' } });
  await eventually(
    () => getSet(cluster),
    ({ status }) => status?.readyReplicas === 2,
  );
  await changeSet(cluster, { template: setTemplate('v2') });
  await eventually(
    () => getSet(cluster),
    ({ status }) => status?.currentRevision !== status?.updateRevision,
  );
  await cluster.resource(pods).delete({ namespace, name: 'web-0' });
  await eventually(
    async () => (await podsOf(cluster)).map(({ spec }) => spec?.containers?.[0]?.image ?? ''),
    same(['v2', 'v1']),
  );
});

test.each(['Failed', 'Succeeded'])('a pod that is %s is recreated', async (phase) => {
  await using fixture = await RealTimeCluster.start();
  const { cluster } = fixture;
  await using _controllers = runControllersOn(cluster, [statefulSetController]);
  await makeSet(cluster);
  const [first] = await eventually(
    () => podsOf(cluster),
    ({ length }) => length === 1,
  );
  await setStatus(cluster, 'web-0', { phase });
  await eventually(
    () => podsOf(cluster),
    ([pod]) => pod !== undefined && pod.metadata?.uid !== first?.metadata?.uid,
  );
});

test('claims are deleted with pods that are scaled down, and created again later', async () => {
  await using fixture = await RealTimeCluster.start();
  const { cluster } = fixture;
  await using _controllers = runControllersOn(cluster, [
    statefulSetController,
    garbageCollectorController,
    healthyNodes(cluster),
  ]);
  await makeSet(cluster, {
    replicas: 2,
    volumeClaimTemplates: [dataTemplate],
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Delete' },
  });
  const both = ['data-web-0 of StatefulSet web', 'data-web-1 of StatefulSet web'];
  await eventually(() => claimLines(cluster), same(both));
  await eventually(
    () => getSet(cluster),
    ({ status }) => status?.readyReplicas === 2,
  );
  const claims = cluster.resource(persistentVolumeClaims);
  const key = { namespace, name: 'data-web-1' };
  const first = await claims.get(key);
  await changeSet(cluster, { replicas: 1 });
  await eventually(
    () => claimLines(cluster),
    same(['data-web-0 of StatefulSet web', 'data-web-1 of Pod web-1']),
  );
  await claims.patch(key, { type: 'merge', body: { metadata: { finalizers: null } } });
  await eventually(() => claimLines(cluster), same(both.slice(0, 1)));
  await changeSet(cluster, { replicas: 2 });
  await eventually(() => claimLines(cluster), same(both));
  expect((await claims.get(key)).metadata?.uid).not.toBe(first.metadata?.uid);
});
