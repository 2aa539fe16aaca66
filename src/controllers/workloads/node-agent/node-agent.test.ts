import { expect, test } from 'vitest';
import { getCondition } from '../../../kube/conditions.ts';
import {
  leases,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  volumeAttachments,
} from '../../../kube/resources.ts';
import { crashEverywhere } from '../../testing/crash-everywhere.ts';
import { TrialCluster } from '../../testing/trial-cluster.ts';
import { nodeAgent } from './node-agent.ts';
import {
  bind,
  makeClaim,
  makeNode,
  makePod,
  namespace,
  phases,
  readClaim,
  readPod,
} from './testing/agent-fixture.ts';

test('a pod on a node runs, with an address and what else a kubelet tells', async () => {
  await using trial = await TrialCluster.start(nodeAgent);
  await makeNode(trial, 'n1');
  await makePod(trial, 'web');
  await makePod(trial, 'db');
  await trial.settle();
  const [web, db] = [await readPod(trial, 'web'), await readPod(trial, 'db')];
  expect(web.status).toMatchObject({
    phase: 'Running',
    containerStatuses: [
      { name: 'main', ready: true, started: true, restartCount: 0, state: { running: {} } },
    ],
  });
  expect(web.status?.startTime).toBeDefined();
  const conditions = (web.status?.conditions ?? []).map(({ type, status }) => `${type} ${status}`).sort();
  expect(conditions).toEqual([
    'ContainersReady True',
    'Initialized True',
    'PodReadyToStartContainers True',
    'PodScheduled True',
    'Ready True',
  ]);
  expect(web.status?.podIP).toMatch(/^10\.128\.0\.\d$/);
  expect(web.status?.podIP).not.toBe(db.status?.podIP);
  expect(trial.troubles).toEqual([]);
});

test('a node becomes Ready, and its lease is renewed', async () => {
  await using trial = await TrialCluster.start(nodeAgent);
  await makeNode(trial, 'n1');
  await trial.settle();
  const node = await trial.cluster.resource(nodes).get({ name: 'n1' });
  expect(getCondition(node.status?.conditions, 'Ready')?.status).toBe('True');
  const client = trial.cluster.resource(leases);
  const key = { namespace: 'kube-node-lease', name: 'n1' };
  const first = await client.get(key);
  await trial.settle(300_000);
  const second = await client.get(key);
  expect(first.spec?.holderIdentity).toBe('stowage.dev/node-agent');
  expect(second.spec?.renewTime).not.toBe(first.spec?.renewTime);
});

const annotated = (value: string) => ({ annotations: { 'stowage.dev/simulated': value } });

test.each([
  { what: 'has no lease', more: {}, holder: undefined, expected: 'Running' },
  { what: 'has a kubelet', more: {}, holder: 'n1', expected: 'Pending' },
  {
    what: 'has a kubelet and is to be simulated',
    more: annotated('true'),
    holder: 'n1',
    expected: 'Running',
  },
  { what: 'is not to be simulated', more: annotated('false'), holder: undefined, expected: 'Pending' },
])('a pod on a node that $what is $expected', async ({ more, holder, expected }) => {
  await using trial = await TrialCluster.start();
  if (holder !== undefined)
    await trial.cluster.resource(leases).create({
      metadata: { namespace: 'kube-node-lease', name: 'n1' },
      spec: { holderIdentity: holder, leaseDurationSeconds: 40, renewTime: '2025-01-01T00:00:00.000000Z' },
    });
  await makeNode(trial, 'n1', more);
  await makePod(trial, 'web');
  trial.run([nodeAgent]);
  await trial.settle();
  expect(await phases(trial)).toEqual([`web ${expected}`]);
});

test('a pod waits until its claim is bound, and says so if that takes seconds', async () => {
  await using trial = await TrialCluster.start(nodeAgent);
  await makeNode(trial, 'n1');
  await makeClaim(trial, 'data', { isUnbound: true });
  await makePod(trial, 'web', { claims: ['data'] });
  await trial.settle();
  const { status } = await readPod(trial, 'web');
  expect(status).toMatchObject({
    phase: 'Pending',
    containerStatuses: [{ ready: false, state: { waiting: { reason: 'ContainerCreating' } } }],
  });
  expect(await trial.told()).toEqual([]);
  await trial.settle(3_000);
  expect(await trial.told()).toEqual([
    'FailedMount web: Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[data]: error processing PVC default/data: PVC is not bound',
  ]);
  await bind(trial, 'data');
  await trial.settle();
  expect(await phases(trial)).toEqual(['web Running']);
});

test('a claim that is bound a moment after its pod came is not worth a word', async () => {
  await using trial = await TrialCluster.start(nodeAgent);
  await makeNode(trial, 'n1');
  await makeClaim(trial, 'data', { isUnbound: true });
  await makePod(trial, 'web', { claims: ['data'] });
  await trial.settle();
  await bind(trial, 'data');
  await trial.settle(10_000);
  expect(await phases(trial)).toEqual(['web Running']);
  expect((await trial.told()).filter((line) => line.startsWith('Failed'))).toEqual([]);
});

test('a claim is marked before its pod runs', async () => {
  await using trial = await TrialCluster.start(nodeAgent);
  await makeNode(trial, 'n1');
  await makeClaim(trial, 'data');
  expect((await readClaim(trial, 'data')).metadata?.annotations ?? {}).not.toHaveProperty(
    'stowage.dev/mounted',
  );
  await makePod(trial, 'web', { claims: ['data'] });
  await trial.settle();
  const { metadata } = await readPod(trial, 'web');
  expect((await readClaim(trial, 'data')).metadata?.annotations).toMatchObject({
    'stowage.dev/mounted': `n1/${metadata?.uid}`,
  });
});

test('a claim whose binding is being undone is not mounted until that is over', async () => {
  await using trial = await TrialCluster.start(nodeAgent);
  await makeNode(trial, 'n1');
  await makeClaim(trial, 'data');
  const client = trial.cluster.resource(persistentVolumeClaims);
  const annotate = (value: string | null) =>
    client.patch(
      { namespace, name: 'data' },
      { type: 'merge', body: { metadata: { annotations: { 'stowage.dev/rollback': value } } } },
    );
  await annotate('yes');
  await makePod(trial, 'web', { claims: ['data'] });
  await trial.settle();
  expect(await phases(trial)).toEqual(['web Pending']);
  expect((await readClaim(trial, 'data')).metadata?.annotations).toEqual({ 'stowage.dev/rollback': 'yes' });
  await annotate(null);
  await trial.settle();
  expect(await phases(trial)).toEqual(['web Running']);
});

test('a deleted pod goes when its grace has passed, not before', async () => {
  await using trial = await TrialCluster.start(nodeAgent);
  await makeNode(trial, 'n1');
  await makePod(trial, 'web');
  await trial.settle();
  await trial.cluster.resource(pods).delete({ namespace, name: 'web' }, { gracePeriodSeconds: 20 });
  await trial.settle(18_000);
  expect(await phases(trial)).toEqual(['web Running']);
  await trial.settle(3_000);
  expect(await phases(trial)).toEqual([]);
});

test('a deleted pod that a finalizer holds has ended all the same', async () => {
  await using trial = await TrialCluster.start(nodeAgent);
  await makeNode(trial, 'n1');
  await makePod(trial, 'web');
  await trial.settle();
  const client = trial.cluster.resource(pods);
  const key = { namespace, name: 'web' };
  await client.patch(key, { type: 'merge', body: { metadata: { finalizers: ['example.com/hold'] } } });
  await client.delete(key, { gracePeriodSeconds: 1 });
  await trial.settle(5_000);
  expect(await phases(trial)).toEqual(['web Succeeded']);
  await client.patch(key, { type: 'merge', body: { metadata: { finalizers: null } } });
  expect(await phases(trial)).toEqual([]);
});

test.each([
  { restartPolicy: 'Never', annotations: { 'stowage.dev/run-seconds': '5' }, expected: 'Succeeded' },
  { restartPolicy: 'OnFailure', annotations: { 'stowage.dev/run-seconds': '5' }, expected: 'Succeeded' },
  { restartPolicy: 'Always', annotations: { 'stowage.dev/run-seconds': '5' }, expected: 'Running' },
  { restartPolicy: 'Never', annotations: {}, expected: 'Running' },
] as const)('a pod with $restartPolicy and $annotations ends up $expected', async (pod) => {
  await using trial = await TrialCluster.start(nodeAgent);
  await makeNode(trial, 'n1');
  await makePod(trial, 'job', { spec: { restartPolicy: pod.restartPolicy }, annotations: pod.annotations });
  await trial.settle();
  expect(await phases(trial)).toEqual(['job Running']);
  await trial.settle(10_000);
  expect(await phases(trial)).toEqual([`job ${pod.expected}`]);
});

test('readiness gates of others decide whether a pod is Ready', async () => {
  await using trial = await TrialCluster.start(nodeAgent);
  await makeNode(trial, 'n1');
  await makePod(trial, 'web', { spec: { readinessGates: [{ conditionType: 'example.com/on' }] } });
  await trial.settle();
  const ready = async () => getCondition((await readPod(trial, 'web')).status?.conditions, 'Ready');
  expect(await ready()).toMatchObject({ status: 'False', reason: 'ReadinessGatesNotReady' });
  const status = { conditions: [{ type: 'example.com/on', status: 'True' }] };
  await trial.cluster
    .resource(pods)
    .patch({ namespace, name: 'web' }, { type: 'strategic', body: { status } }, { subresource: 'status' });
  await trial.settle();
  expect((await ready())?.status).toBe('True');
});

test('dying after any write changes nothing about the end', async () => {
  const places = await crashEverywhere({
    controllers: [nodeAgent],
    prepare: async (trial) => {
      await makeNode(trial, 'n1');
      for (const name of ['a', 'b', 'c']) await makeClaim(trial, name);
      await makeClaim(trial, 'unbound', { isUnbound: true });
      await makePod(trial, 'going', { claims: ['c'] });
      await using _earlier = trial.run([nodeAgent]);
      await trial.settle();
      await trial.cluster.resource(pods).delete({ namespace, name: 'going' }, { gracePeriodSeconds: 5 });
      await makeNode(trial, 'n2');
      await makePod(trial, 'web', { node: 'n2', claims: ['a', 'b'] });
      await makePod(trial, 'stuck', { node: 'n2', claims: ['unbound'] });
    },
    resources: [pods, nodes, leases, persistentVolumeClaims, persistentVolumes, volumeAttachments],
    settleMs: 20_000,
  });
  expect(places).toBeGreaterThan(8);
});
