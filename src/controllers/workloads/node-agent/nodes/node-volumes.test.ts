import { expect, test } from 'vitest';
import type { Node } from '../../../../kube/api/core.ts';
import {
  csiDrivers,
  csiNodes,
  nodes,
  persistentVolumeClaims,
  pods,
  volumeAttachments,
} from '../../../../kube/resources.ts';
import { crashControllersAtEveryWrite } from '../../../testing/crash-at-every-write.ts';
import { VirtualTimeCluster } from '../../../testing/virtual-time-cluster.ts';
import { nodeAgentController } from '../node-agent.ts';
import { makeClaim, makeNode, makePod, namespace, phases, testDriver } from '../testing/agent-fixture.ts';
import { watchLines } from '../testing/watch-lines.ts';

const nameOf = (claim: string) => `kubernetes.io/csi/${testDriver}^handle-${claim}`;

async function readNode({ cluster }: VirtualTimeCluster, name = 'n1'): Promise<Node> {
  return await cluster.resource(nodes).get({ name });
}

async function removePod({ cluster }: VirtualTimeCluster, name: string): Promise<void> {
  await cluster.resource(pods).delete({ namespace, name }, { gracePeriodSeconds: 0 });
}

test('a node reports the volumes that its pods use, and those that are attached to it', async () => {
  await using fixture = await VirtualTimeCluster.start(nodeAgentController());
  await makeNode(fixture, 'n1');
  for (const name of ['b', 'a']) await makeClaim(fixture, name);
  await makeClaim(fixture, 'host', { spec: { hostPath: { path: '/a' } } });
  await makePod(fixture, 'web', { claims: ['b', 'a', 'host'] });
  await makePod(fixture, 'web2', { claims: ['b'] });
  await fixture.settle();
  expect(await phases(fixture)).toEqual(['web Running', 'web2 Running']);
  expect((await readNode(fixture)).status).toMatchObject({
    volumesInUse: [nameOf('a'), nameOf('b')],
    volumesAttached: [
      { name: nameOf('a'), devicePath: '' },
      { name: nameOf('b'), devicePath: '' },
    ],
  });
  await removePod(fixture, 'web');
  await fixture.settle();
  expect((await readNode(fixture)).status).toMatchObject({
    volumesInUse: [nameOf('b')],
    volumesAttached: [{ name: nameOf('b'), devicePath: '' }],
  });
  await removePod(fixture, 'web2');
  await fixture.settle();
  const { status } = await readNode(fixture);
  expect([status?.volumesInUse ?? [], status?.volumesAttached ?? []]).toEqual([[], []]);
  expect(fixture.errors).toEqual([]);
});

test('volumes that need no attachment are not reported', async () => {
  await using fixture = await VirtualTimeCluster.start(nodeAgentController());
  await makeNode(fixture, 'n1');
  const spec = { attachRequired: false };
  await fixture.cluster.resource(csiDrivers).create({ metadata: { name: testDriver }, spec });
  await makeClaim(fixture, 'data');
  await makePod(fixture, 'web', { claims: ['data'] });
  await fixture.settle();
  expect(await phases(fixture)).toEqual(['web Running']);
  expect((await readNode(fixture)).status?.volumesInUse).toBeUndefined();
});

test('in use is reported first, then attached, then the pod runs; the end is in reverse order', async () => {
  await using fixture = await VirtualTimeCluster.start(nodeAgentController());
  await makeNode(fixture, 'n1');
  await makeClaim(fixture, 'data');
  await fixture.settle();
  await using lines = watchLines(fixture, {
    node: ({ status }: Node) =>
      `node: ${status?.volumesInUse?.length ?? 0} in use, ${status?.volumesAttached?.length ?? 0} attached`,
  });
  await makePod(fixture, 'web', { claims: ['data'] });
  await fixture.settle();
  await fixture.cluster.resource(pods).delete({ namespace, name: 'web' }, { gracePeriodSeconds: 1 });
  await fixture.settle(5_000);
  // When the object of a finished pod is removed does not matter here.
  expect(lines.seen.filter((line) => line !== 'pod gone')).toEqual([
    'pod Pending',
    'node: 1 in use, 0 attached',
    'attachment made',
    'attachment attached',
    'node: 1 in use, 1 attached',
    'pod Running',
    'pod Succeeded',
    'node: 0 in use, 0 attached',
    'attachment gone',
  ]);
});

test('many pods that start on a node at once need few writes of it', async () => {
  await using fixture = await VirtualTimeCluster.start(nodeAgentController());
  await makeNode(fixture, 'n1');
  const names = Array.from({ length: 20 }, (_, index) => `p${index}`);
  for (const name of names) await makeClaim(fixture, name);
  await fixture.settle();
  await using lines = watchLines(fixture, { node: ({ metadata }) => `node ${metadata?.resourceVersion}` });
  for (const name of names) await makePod(fixture, name, { claims: [name] });
  await fixture.settle();
  expect((await readNode(fixture)).status?.volumesAttached).toHaveLength(20);
  expect((await phases(fixture)).every((phase) => phase.endsWith(' Running'))).toBe(true);
  expect(lines.seen.filter((line) => line.startsWith('node ')).length).toBeLessThanOrEqual(8);
});

test('a report that a user changed is corrected', async () => {
  await using fixture = await VirtualTimeCluster.start(nodeAgentController());
  await makeNode(fixture, 'n1');
  await makeClaim(fixture, 'data');
  await makePod(fixture, 'web', { claims: ['data'] });
  await fixture.settle();
  const body = { status: { volumesInUse: ['x'], volumesAttached: null } };
  const client = fixture.cluster.resource(nodes);
  await client.patch({ name: 'n1' }, { type: 'merge', body }, { subresource: 'status' });
  await fixture.settle();
  expect((await readNode(fixture)).status).toMatchObject({
    volumesInUse: [nameOf('data')],
    volumesAttached: [{ name: nameOf('data'), devicePath: '' }],
  });
});

test('a volume stays in use under a pod whose claim lost it', async () => {
  await using fixture = await VirtualTimeCluster.start(nodeAgentController());
  await makeNode(fixture, 'n1');
  await makeClaim(fixture, 'data');
  await makePod(fixture, 'web', { claims: ['data'] });
  await fixture.settle();
  const patch = { type: 'merge', body: { status: { phase: 'Lost' } } } as const;
  const claims = fixture.cluster.resource(persistentVolumeClaims);
  await claims.patch({ namespace, name: 'data' }, patch, { subresource: 'status' });
  const body = { metadata: { labels: { look: 'again' } } };
  await fixture.cluster.resource(nodes).patch({ name: 'n1' }, { type: 'merge', body });
  await fixture.settle();
  expect((await readNode(fixture)).status?.volumesInUse).toEqual([nameOf('data')]);
});

test.each([
  { what: 'is not attached yet', body: { status: { attached: false } }, subresource: 'status' },
  { what: 'is being deleted', body: { metadata: { finalizers: ['example.com/keep'] } }, subresource: '' },
])('an attachment that $what is not reported as attached', async ({ body, subresource }) => {
  await using fixture = await VirtualTimeCluster.start(nodeAgentController());
  await makeNode(fixture, 'n1');
  await makeClaim(fixture, 'data');
  await makePod(fixture, 'web', { claims: ['data'] });
  await fixture.settle();
  const client = fixture.cluster.resource(volumeAttachments);
  const [attachment] = (await client.list()).items;
  const { name = '' } = attachment?.metadata ?? {};
  await client.patch({ name }, { type: 'merge', body }, subresource === '' ? {} : { subresource });
  if (subresource === '') await client.delete({ name });
  await fixture.settle();
  const { status } = await readNode(fixture);
  expect([status?.volumesInUse, status?.volumesAttached]).toEqual([[nameOf('data')], undefined]);
});

test('crashing after any write leaves a node with a correct report in the end', async () => {
  const crashes = await crashControllersAtEveryWrite({
    controllers: [nodeAgentController()],
    prepare: async (fixture) => {
      for (const name of ['n1', 'n2']) await makeNode(fixture, name);
      for (const name of ['a', 'b']) await makeClaim(fixture, name);
      await makePod(fixture, 'going', { claims: ['a'] });
      await using _earlier = fixture.run([nodeAgentController()]);
      await fixture.settle();
      await removePod(fixture, 'going');
      await makePod(fixture, 'next', { node: 'n2', claims: ['a', 'b'] });
    },
    resources: [pods, nodes, volumeAttachments],
    settleMs: 20_000,
  });
  expect(crashes).toBeGreaterThan(5);
});

test('a pod waits for the driver of its volume if its node lists its drivers', async () => {
  await using fixture = await VirtualTimeCluster.start(nodeAgentController());
  await makeNode(fixture, 'n1');
  const client = fixture.cluster.resource(csiNodes);
  await client.create({ metadata: { name: 'n1' }, spec: { drivers: [] } });
  await makeClaim(fixture, 'data');
  await makeClaim(fixture, 'host', { spec: { hostPath: { path: '/a' } } });
  await makePod(fixture, 'web', { claims: ['data'] });
  await makePod(fixture, 'plain', { claims: ['host'] });
  await fixture.settle();
  expect(await phases(fixture)).toEqual(['plain Running', 'web Pending']);
  expect(await fixture.eventLines()).toEqual([
    'FailedAttachVolume web: AttachVolume.Attach failed for volume "v-data" : CSINode n1 does not contain driver d.example.com',
  ]);
  expect((await fixture.cluster.resource(volumeAttachments).list()).items).toEqual([]);
  const body = { spec: { drivers: [{ name: testDriver, nodeID: 'n1' }] } };
  await client.patch({ name: 'n1' }, { type: 'merge', body });
  await fixture.settle();
  expect(await phases(fixture)).toEqual(['plain Running', 'web Running']);
});
