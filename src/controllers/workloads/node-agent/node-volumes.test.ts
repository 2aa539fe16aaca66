import { expect, test } from 'vitest';
import type { Node } from '../../../kube/api/core.ts';
import {
  csiDrivers,
  csiNodes,
  nodes,
  persistentVolumeClaims,
  pods,
  volumeAttachments,
} from '../../../kube/resources.ts';
import { crashEverywhere } from '../../testing/crash-everywhere.ts';
import { TrialCluster } from '../../testing/trial-cluster.ts';
import { nodeAgent } from './node-agent.ts';
import { driver, makeClaim, makeNode, makePod, namespace, phases } from './testing/agent-fixture.ts';
import { watchLines } from './testing/watch-lines.ts';

const nameOf = (claim: string) => `kubernetes.io/csi/${driver}^handle-${claim}`;

async function readNode({ cluster }: TrialCluster, name = 'n1'): Promise<Node> {
  return await cluster.resource(nodes).get({ name });
}

async function removePod({ cluster }: TrialCluster, name: string): Promise<void> {
  await cluster.resource(pods).delete({ namespace, name }, { gracePeriodSeconds: 0 });
}

test('a node tells of the volumes that its pods use, and of those that are attached to it', async () => {
  await using trial = await TrialCluster.start(nodeAgent);
  await makeNode(trial, 'n1');
  for (const name of ['b', 'a']) await makeClaim(trial, name);
  await makeClaim(trial, 'host', { spec: { hostPath: { path: '/a' } } });
  await makePod(trial, 'web', { claims: ['b', 'a', 'host'] });
  await makePod(trial, 'web2', { claims: ['b'] });
  await trial.settle();
  expect(await phases(trial)).toEqual(['web Running', 'web2 Running']);
  expect((await readNode(trial)).status).toMatchObject({
    volumesInUse: [nameOf('a'), nameOf('b')],
    volumesAttached: [
      { name: nameOf('a'), devicePath: '' },
      { name: nameOf('b'), devicePath: '' },
    ],
  });
  await removePod(trial, 'web');
  await trial.settle();
  expect((await readNode(trial)).status).toMatchObject({
    volumesInUse: [nameOf('b')],
    volumesAttached: [{ name: nameOf('b'), devicePath: '' }],
  });
  await removePod(trial, 'web2');
  await trial.settle();
  const { status } = await readNode(trial);
  expect([status?.volumesInUse ?? [], status?.volumesAttached ?? []]).toEqual([[], []]);
  expect(trial.troubles).toEqual([]);
});

test('what needs no attachment is not reported', async () => {
  await using trial = await TrialCluster.start(nodeAgent);
  await makeNode(trial, 'n1');
  const spec = { attachRequired: false };
  await trial.cluster.resource(csiDrivers).create({ metadata: { name: driver }, spec });
  await makeClaim(trial, 'data');
  await makePod(trial, 'web', { claims: ['data'] });
  await trial.settle();
  expect(await phases(trial)).toEqual(['web Running']);
  expect((await readNode(trial)).status?.volumesInUse).toBeUndefined();
});

test('in use is told first, then attached, then the pod runs; in the end it is the other way round', async () => {
  await using trial = await TrialCluster.start(nodeAgent);
  await makeNode(trial, 'n1');
  await makeClaim(trial, 'data');
  await trial.settle();
  await using lines = watchLines(trial, {
    node: ({ status }: Node) =>
      `node: ${status?.volumesInUse?.length ?? 0} in use, ${status?.volumesAttached?.length ?? 0} attached`,
  });
  await makePod(trial, 'web', { claims: ['data'] });
  await trial.settle();
  await trial.cluster.resource(pods).delete({ namespace, name: 'web' }, { gracePeriodSeconds: 1 });
  await trial.settle(5_000);
  // When the object of a pod that has ended goes is its own business.
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

test('many pods that start on a node at once cost few writes of it', async () => {
  await using trial = await TrialCluster.start(nodeAgent);
  await makeNode(trial, 'n1');
  const names = Array.from({ length: 20 }, (_, index) => `p${index}`);
  for (const name of names) await makeClaim(trial, name);
  await trial.settle();
  await using lines = watchLines(trial, { node: ({ metadata }) => `node ${metadata?.resourceVersion}` });
  for (const name of names) await makePod(trial, name, { claims: [name] });
  await trial.settle();
  expect((await readNode(trial)).status?.volumesAttached).toHaveLength(20);
  expect((await phases(trial)).every((phase) => phase.endsWith(' Running'))).toBe(true);
  expect(lines.seen.filter((line) => line.startsWith('node ')).length).toBeLessThanOrEqual(8);
});

test('a report that somebody spoils is put right', async () => {
  await using trial = await TrialCluster.start(nodeAgent);
  await makeNode(trial, 'n1');
  await makeClaim(trial, 'data');
  await makePod(trial, 'web', { claims: ['data'] });
  await trial.settle();
  const body = { status: { volumesInUse: ['x'], volumesAttached: null } };
  const client = trial.cluster.resource(nodes);
  await client.patch({ name: 'n1' }, { type: 'merge', body }, { subresource: 'status' });
  await trial.settle();
  expect((await readNode(trial)).status).toMatchObject({
    volumesInUse: [nameOf('data')],
    volumesAttached: [{ name: nameOf('data'), devicePath: '' }],
  });
});

test('a volume stays in use under a pod whose claim was torn from it', async () => {
  await using trial = await TrialCluster.start(nodeAgent);
  await makeNode(trial, 'n1');
  await makeClaim(trial, 'data');
  await makePod(trial, 'web', { claims: ['data'] });
  await trial.settle();
  const patch = { type: 'merge', body: { status: { phase: 'Lost' } } } as const;
  const claims = trial.cluster.resource(persistentVolumeClaims);
  await claims.patch({ namespace, name: 'data' }, patch, { subresource: 'status' });
  const body = { metadata: { labels: { look: 'again' } } };
  await trial.cluster.resource(nodes).patch({ name: 'n1' }, { type: 'merge', body });
  await trial.settle();
  expect((await readNode(trial)).status?.volumesInUse).toEqual([nameOf('data')]);
});

test.each([
  { what: 'says that it is not attached', body: { status: { attached: false } }, subresource: 'status' },
  { what: 'is on its way out', body: { metadata: { finalizers: ['example.com/keep'] } }, subresource: '' },
])('an attachment that $what is not reported as attached', async ({ body, subresource }) => {
  await using trial = await TrialCluster.start(nodeAgent);
  await makeNode(trial, 'n1');
  await makeClaim(trial, 'data');
  await makePod(trial, 'web', { claims: ['data'] });
  await trial.settle();
  const client = trial.cluster.resource(volumeAttachments);
  const [attachment] = (await client.list()).items;
  const { name = '' } = attachment?.metadata ?? {};
  await client.patch({ name }, { type: 'merge', body }, subresource === '' ? {} : { subresource });
  if (subresource === '') await client.delete({ name });
  await trial.settle();
  const { status } = await readNode(trial);
  expect([status?.volumesInUse, status?.volumesAttached]).toEqual([[nameOf('data')], undefined]);
});

test('dying after any write leaves a node that tells the truth in the end', async () => {
  const places = await crashEverywhere({
    controllers: [nodeAgent],
    prepare: async (trial) => {
      for (const name of ['n1', 'n2']) await makeNode(trial, name);
      for (const name of ['a', 'b']) await makeClaim(trial, name);
      await makePod(trial, 'going', { claims: ['a'] });
      await using _earlier = trial.run([nodeAgent]);
      await trial.settle();
      await removePod(trial, 'going');
      await makePod(trial, 'next', { node: 'n2', claims: ['a', 'b'] });
    },
    resources: [pods, nodes, volumeAttachments],
    settleMs: 20_000,
  });
  expect(places).toBeGreaterThan(5);
});

test('a pod waits for the driver of its volume where its node says which drivers it has', async () => {
  await using trial = await TrialCluster.start(nodeAgent);
  await makeNode(trial, 'n1');
  const client = trial.cluster.resource(csiNodes);
  await client.create({ metadata: { name: 'n1' }, spec: { drivers: [] } });
  await makeClaim(trial, 'data');
  await makeClaim(trial, 'host', { spec: { hostPath: { path: '/a' } } });
  await makePod(trial, 'web', { claims: ['data'] });
  await makePod(trial, 'plain', { claims: ['host'] });
  await trial.settle();
  expect(await phases(trial)).toEqual(['plain Running', 'web Pending']);
  expect(await trial.told()).toEqual([
    'FailedAttachVolume web: AttachVolume.Attach failed for volume "v-data" : CSINode n1 does not contain driver d.example.com',
  ]);
  expect((await trial.cluster.resource(volumeAttachments).list()).items).toEqual([]);
  const body = { spec: { drivers: [{ name: driver, nodeID: 'n1' }] } };
  await client.patch({ name: 'n1' }, { type: 'merge', body });
  await trial.settle();
  expect(await phases(trial)).toEqual(['plain Running', 'web Running']);
});
