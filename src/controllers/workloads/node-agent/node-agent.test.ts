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
import { crashControllersAtEveryWrite } from '../../testing/crash-at-every-write.ts';
import { VirtualTimeCluster } from '../../testing/virtual-time-cluster.ts';
import { nodeAgentController } from './node-agent.ts';
import {
  bindClaim,
  getClaim,
  getPod,
  makeClaim,
  makeNode,
  makePod,
  namespace,
  phases,
} from './testing/agent-fixture.ts';

test('a pod on a node runs, with an address and the status of a kubelet', async () => {
  await using fixture = await VirtualTimeCluster.start(nodeAgentController());
  await makeNode(fixture, 'n1');
  await makePod(fixture, 'web');
  await makePod(fixture, 'db');
  await fixture.settle();
  const [web, db] = [await getPod(fixture, 'web'), await getPod(fixture, 'db')];
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
  expect(fixture.errors).toEqual([]);
});

test('a node becomes Ready, and its lease is renewed', async () => {
  await using fixture = await VirtualTimeCluster.start(nodeAgentController());
  await makeNode(fixture, 'n1');
  await fixture.settle();
  const node = await fixture.cluster.resource(nodes).get({ name: 'n1' });
  expect(getCondition(node.status?.conditions, 'Ready')?.status).toBe('True');
  const client = fixture.cluster.resource(leases);
  const key = { namespace: 'kube-node-lease', name: 'n1' };
  const first = await client.get(key);
  await fixture.settle(300_000);
  const second = await client.get(key);
  expect(first.spec?.holderIdentity).toBe('n1');
  expect(second.spec?.renewTime).not.toBe(first.spec?.renewTime);
});

const annotated = (value: string) => ({ annotations: { 'stowage.dev/simulated': value } });

test.each([
  { what: 'has no lease', more: {}, holder: undefined, expected: 'Running' },
  { what: 'has a kubelet', more: {}, holder: 'n1', expected: 'Pending' },
  {
    what: 'has a kubelet and the annotation true',
    more: annotated('true'),
    holder: 'n1',
    expected: 'Running',
  },
  { what: 'has the annotation false', more: annotated('false'), holder: undefined, expected: 'Pending' },
])('a pod on a node that $what is $expected', async ({ more, holder, expected }) => {
  await using fixture = await VirtualTimeCluster.start();
  if (holder !== undefined)
    await fixture.cluster.resource(leases).create({
      metadata: { namespace: 'kube-node-lease', name: 'n1' },
      spec: { holderIdentity: holder, leaseDurationSeconds: 40, renewTime: '2025-01-01T00:00:00.000000Z' },
    });
  await makeNode(fixture, 'n1', more);
  await makePod(fixture, 'web');
  fixture.run([nodeAgentController()]);
  await fixture.settle();
  expect(await phases(fixture)).toEqual([`web ${expected}`]);
});

test('a pod waits until its claim is bound, with an Event if that takes seconds', async () => {
  await using fixture = await VirtualTimeCluster.start(nodeAgentController());
  await makeNode(fixture, 'n1');
  await makeClaim(fixture, 'data', { isUnbound: true });
  await makePod(fixture, 'web', { claims: ['data'] });
  await fixture.settle();
  const { status } = await getPod(fixture, 'web');
  expect(status).toMatchObject({
    phase: 'Pending',
    containerStatuses: [{ ready: false, state: { waiting: { reason: 'ContainerCreating' } } }],
  });
  expect(await fixture.eventLines()).toEqual([]);
  await fixture.settle(3_000);
  expect(await fixture.eventLines()).toEqual([
    'FailedMount web: Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[data]: error processing PVC default/data: PVC is not bound',
  ]);
  await bindClaim(fixture, 'data');
  await fixture.settle();
  expect(await phases(fixture)).toEqual(['web Running']);
});

test('a claim that is bound a moment after its pod gets no Event', async () => {
  await using fixture = await VirtualTimeCluster.start(nodeAgentController());
  await makeNode(fixture, 'n1');
  await makeClaim(fixture, 'data', { isUnbound: true });
  await makePod(fixture, 'web', { claims: ['data'] });
  await fixture.settle();
  await bindClaim(fixture, 'data');
  await fixture.settle(10_000);
  expect(await phases(fixture)).toEqual(['web Running']);
  expect((await fixture.eventLines()).filter((line) => line.startsWith('Failed'))).toEqual([]);
});

test('a claim is annotated before its pod runs', async () => {
  await using fixture = await VirtualTimeCluster.start(nodeAgentController());
  await makeNode(fixture, 'n1');
  await makeClaim(fixture, 'data');
  expect((await getClaim(fixture, 'data')).metadata?.annotations ?? {}).not.toHaveProperty(
    'stowage.dev/mounted',
  );
  await makePod(fixture, 'web', { claims: ['data'] });
  await fixture.settle();
  const { metadata } = await getPod(fixture, 'web');
  expect((await getClaim(fixture, 'data')).metadata?.annotations).toMatchObject({
    'stowage.dev/mounted': `n1/${metadata?.uid}`,
  });
});

test('a claim whose binding is being rolled back is not mounted until the rollback is over', async () => {
  await using fixture = await VirtualTimeCluster.start(nodeAgentController());
  await makeNode(fixture, 'n1');
  await makeClaim(fixture, 'data');
  const client = fixture.cluster.resource(persistentVolumeClaims);
  const annotate = (value: string | null) =>
    client.patch(
      { namespace, name: 'data' },
      { type: 'merge', body: { metadata: { annotations: { 'stowage.dev/rollback': value } } } },
    );
  await annotate('yes');
  await makePod(fixture, 'web', { claims: ['data'] });
  await fixture.settle();
  expect(await phases(fixture)).toEqual(['web Pending']);
  expect((await getClaim(fixture, 'data')).metadata?.annotations).toEqual({ 'stowage.dev/rollback': 'yes' });
  await annotate(null);
  await fixture.settle();
  expect(await phases(fixture)).toEqual(['web Running']);
});

test('a deleted pod is removed at once, because its containers end when they get the signal', async () => {
  await using fixture = await VirtualTimeCluster.start(nodeAgentController());
  await makeNode(fixture, 'n1');
  await makePod(fixture, 'web');
  await fixture.settle();
  await fixture.cluster.resource(pods).delete({ namespace, name: 'web' });
  await fixture.settle();
  expect(await phases(fixture)).toEqual([]);
});

test('a deleted pod is removed when the time that its containers take to end has passed, not before', async () => {
  await using fixture = await VirtualTimeCluster.start(nodeAgentController());
  await makeNode(fixture, 'n1');
  await makePod(fixture, 'web', { annotations: { 'stowage.dev/termination-seconds': '20' } });
  await fixture.settle();
  await fixture.cluster.resource(pods).delete({ namespace, name: 'web' });
  await fixture.settle(18_000);
  expect(await phases(fixture)).toEqual(['web Running']);
  await fixture.settle(3_000);
  expect(await phases(fixture)).toEqual([]);
});

test('a deleted pod with a finalizer ends as well', async () => {
  await using fixture = await VirtualTimeCluster.start(nodeAgentController());
  await makeNode(fixture, 'n1');
  await makePod(fixture, 'web');
  await fixture.settle();
  const client = fixture.cluster.resource(pods);
  const key = { namespace, name: 'web' };
  await client.patch(key, { type: 'merge', body: { metadata: { finalizers: ['example.com/hold'] } } });
  await client.delete(key, { gracePeriodSeconds: 1 });
  await fixture.settle(5_000);
  expect(await phases(fixture)).toEqual(['web Succeeded']);
  await client.patch(key, { type: 'merge', body: { metadata: { finalizers: null } } });
  expect(await phases(fixture)).toEqual([]);
});

test.each([
  { restartPolicy: 'Never', annotations: { 'stowage.dev/run-seconds': '5' }, expected: 'Succeeded' },
  { restartPolicy: 'OnFailure', annotations: { 'stowage.dev/run-seconds': '5' }, expected: 'Succeeded' },
  { restartPolicy: 'Always', annotations: { 'stowage.dev/run-seconds': '5' }, expected: 'Running' },
  { restartPolicy: 'Never', annotations: {}, expected: 'Running' },
] as const)('a pod with $restartPolicy and $annotations ends up $expected', async (pod) => {
  await using fixture = await VirtualTimeCluster.start(nodeAgentController());
  await makeNode(fixture, 'n1');
  await makePod(fixture, 'job', { spec: { restartPolicy: pod.restartPolicy }, annotations: pod.annotations });
  await fixture.settle();
  expect(await phases(fixture)).toEqual(['job Running']);
  await fixture.settle(10_000);
  expect(await phases(fixture)).toEqual([`job ${pod.expected}`]);
});

test('readiness gates decide whether a pod is Ready', async () => {
  await using fixture = await VirtualTimeCluster.start(nodeAgentController());
  await makeNode(fixture, 'n1');
  await makePod(fixture, 'web', { spec: { readinessGates: [{ conditionType: 'example.com/on' }] } });
  await fixture.settle();
  const ready = async () => getCondition((await getPod(fixture, 'web')).status?.conditions, 'Ready');
  expect(await ready()).toMatchObject({ status: 'False', reason: 'ReadinessGatesNotReady' });
  const status = { conditions: [{ type: 'example.com/on', status: 'True' }] };
  await fixture.cluster
    .resource(pods)
    .patch({ namespace, name: 'web' }, { type: 'strategic', body: { status } }, { subresource: 'status' });
  await fixture.settle();
  expect((await ready())?.status).toBe('True');
});

test('crashing after any write does not change the final state', async () => {
  const crashes = await crashControllersAtEveryWrite({
    controllers: [nodeAgentController()],
    prepare: async (fixture) => {
      await makeNode(fixture, 'n1');
      for (const name of ['a', 'b', 'c']) await makeClaim(fixture, name);
      await makeClaim(fixture, 'unbound', { isUnbound: true });
      await makePod(fixture, 'going', { claims: ['c'] });
      await using _earlier = fixture.run([nodeAgentController()]);
      await fixture.settle();
      await fixture.cluster.resource(pods).delete({ namespace, name: 'going' }, { gracePeriodSeconds: 5 });
      await makeNode(fixture, 'n2');
      await makePod(fixture, 'web', { node: 'n2', claims: ['a', 'b'] });
      await makePod(fixture, 'stuck', { node: 'n2', claims: ['unbound'] });
    },
    resources: [pods, nodes, leases, persistentVolumeClaims, persistentVolumes, volumeAttachments],
    settleMs: 20_000,
  });
  expect(crashes).toBeGreaterThan(8);
});
