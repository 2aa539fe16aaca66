import { expect, test } from 'vitest';
import { csiDrivers, csiNodes, nodes, pods, volumeAttachments } from '../../../../kube/resources.ts';
import { VirtualTimeCluster } from '../../../testing/virtual-time-cluster.ts';
import { nodeAgentController } from '../node-agent.ts';
import { makeClaim, makeNode, makePod, namespace, phases, testDriver } from '../testing/agent-fixture.ts';
import { attachmentName } from './attachments.ts';

/** `VOLUME on NODE`, and whether it is attached. */
async function attached({ cluster }: VirtualTimeCluster): Promise<readonly string[]> {
  const { items } = await cluster.resource(volumeAttachments).list();
  return items
    .map(({ spec, status }) => {
      const what = status?.attached === true ? 'on' : 'not yet on';
      return `${spec?.source?.persistentVolumeName} ${what} ${spec?.nodeName}`;
    })
    .sort();
}

async function removePod({ cluster }: VirtualTimeCluster, name: string): Promise<void> {
  await cluster.resource(pods).delete({ namespace, name }, { gracePeriodSeconds: 0 });
}

test('a volume of a CSI driver is attached while a pod uses it', async () => {
  await using fixture = await VirtualTimeCluster.start(nodeAgentController());
  await makeNode(fixture, 'n1');
  await makeClaim(fixture, 'data');
  await makePod(fixture, 'web', { claims: ['data'] });
  await makePod(fixture, 'web2', { claims: ['data'] });
  await fixture.settle();
  expect(await attached(fixture)).toEqual(['v-data on n1']);
  expect(await fixture.eventLines()).toEqual([
    expect.stringMatching(
      /^SuccessfulAttachVolume web2?: AttachVolume.Attach succeeded for volume "v-data" $/,
    ),
  ]);
  await removePod(fixture, 'web');
  await fixture.settle();
  expect(await attached(fixture)).toEqual(['v-data on n1']);
  await removePod(fixture, 'web2');
  await fixture.settle();
  expect(await attached(fixture)).toEqual([]);
});

test('attachments have the names that Kubernetes gives them', () => {
  expect(attachmentName('handle', 'driver', 'node')).toBe(
    'csi-fdef298eb16db6fa42906ef1ff09a93a7f3028f8290cc9d71628ff91c237bfa7',
  );
});

test('a driver that needs no attachment gets none, and volumes without a driver neither', async () => {
  await using fixture = await VirtualTimeCluster.start(nodeAgentController());
  await makeNode(fixture, 'n1');
  await fixture.cluster
    .resource(csiDrivers)
    .create({ metadata: { name: testDriver }, spec: { attachRequired: false } });
  await makeClaim(fixture, 'data');
  await makeClaim(fixture, 'host', { spec: { hostPath: { path: '/a' } } });
  await makePod(fixture, 'web', { claims: ['data', 'host'] });
  await fixture.settle();
  expect(await phases(fixture)).toEqual(['web Running']);
  expect(await attached(fixture)).toEqual([]);
});

test('an attachment that a user deletes under a running pod is created again', async () => {
  await using fixture = await VirtualTimeCluster.start(nodeAgentController());
  await makeNode(fixture, 'n1');
  await makeClaim(fixture, 'data');
  await makePod(fixture, 'web', { claims: ['data'] });
  await fixture.settle();
  const client = fixture.cluster.resource(volumeAttachments);
  const { items } = await client.list();
  await client.delete({ name: items[0]?.metadata?.name ?? '' });
  await fixture.settle();
  expect(await attached(fixture)).toEqual(['v-data on n1']);
});

test('a volume for one node is not attached to a second one before the first has detached it', async () => {
  await using fixture = await VirtualTimeCluster.start(nodeAgentController());
  for (const name of ['n1', 'n2']) await makeNode(fixture, name);
  await makeClaim(fixture, 'data');
  await makePod(fixture, 'web', { claims: ['data'] });
  await makePod(fixture, 'late', { node: 'n2', claims: ['data'] });
  await fixture.settle();
  expect(await phases(fixture)).toEqual(['late Pending', 'web Running']);
  expect(await attached(fixture)).toEqual(['v-data on n1']);
  expect(await fixture.eventLines()).toContain(
    'FailedAttachVolume late: Multi-Attach error for volume "v-data" Volume is already used by pod(s) web',
  );
  await removePod(fixture, 'web');
  await fixture.settle();
  expect(await phases(fixture)).toEqual(['late Running']);
  expect(await attached(fixture)).toEqual(['v-data on n2']);
});

test('a volume for many nodes is attached to each', async () => {
  await using fixture = await VirtualTimeCluster.start(nodeAgentController());
  for (const name of ['n1', 'n2']) await makeNode(fixture, name);
  await makeClaim(fixture, 'data', { mode: 'ReadWriteMany' });
  await makePod(fixture, 'web', { claims: ['data'] });
  await makePod(fixture, 'web2', { node: 'n2', claims: ['data'] });
  await fixture.settle();
  expect(await attached(fixture)).toEqual(['v-data on n1', 'v-data on n2']);
});

test('of two pods that need a ReadWriteOncePod volume, one runs; the other when it is gone', async () => {
  await using fixture = await VirtualTimeCluster.start(nodeAgentController());
  await makeNode(fixture, 'n1');
  await makeClaim(fixture, 'data', { mode: 'ReadWriteOncePod' });
  for (const name of ['web', 'web2']) await makePod(fixture, name, { claims: ['data'] });
  await fixture.settle();
  const states = await phases(fixture);
  const runner = states.find((state) => state.endsWith(' Running'))?.split(' ')[0] ?? '';
  expect(states.map((state) => state.split(' ')[1]).sort()).toEqual(['Pending', 'Running']);
  expect((await fixture.eventLines()).join()).toContain(
    'MountVolume.SetUp failed for volume "v-data" : volume uses the ReadWriteOncePod access mode and is already in use by another pod',
  );
  await removePod(fixture, runner);
  await fixture.settle();
  expect((await phases(fixture)).map((state) => state.split(' ')[1])).toEqual(['Running']);
});

test('a node attaches no more volumes than its driver allows', async () => {
  await using fixture = await VirtualTimeCluster.start(nodeAgentController());
  await makeNode(fixture, 'n1');
  const drivers = [{ name: testDriver, nodeID: 'n1', topologyKeys: [], allocatable: { count: 2 } }];
  await fixture.cluster.resource(csiNodes).create({ metadata: { name: 'n1' }, spec: { drivers } });
  for (const name of ['a', 'b', 'c', 'd']) await makeClaim(fixture, name);
  for (const name of ['a', 'b', 'c', 'd']) await makePod(fixture, name, { claims: [name] });
  await fixture.settle();
  const running = (await phases(fixture)).filter((state) => state.endsWith(' Running'));
  expect(running).toHaveLength(2);
  expect(await attached(fixture)).toHaveLength(2);
  expect((await fixture.eventLines()).join()).toContain(
    'rpc error: code = ResourceExhausted desc = node n1 can attach no more volumes of d.example.com',
  );
  for (const state of running) await removePod(fixture, state.split(' ')[0] ?? '');
  await fixture.settle();
  expect((await phases(fixture)).every((state) => state.endsWith(' Running'))).toBe(true);
});

test('a volume that the node cannot reach is not mounted, until the node can reach it', async () => {
  await using fixture = await VirtualTimeCluster.start(nodeAgentController());
  await makeNode(fixture, 'n1');
  const matchExpressions = [{ key: 'zone', operator: 'In', values: ['a'] }] as const;
  const nodeAffinity = { required: { nodeSelectorTerms: [{ matchExpressions }] } };
  await makeClaim(fixture, 'data', { spec: { local: { path: '/a' }, nodeAffinity } });
  await makePod(fixture, 'web', { claims: ['data'] });
  await fixture.settle();
  expect(await phases(fixture)).toEqual(['web Pending']);
  expect(await fixture.eventLines()).toEqual([
    'FailedMount web: MountVolume.NodeAffinity check failed for volume "v-data" : no matching NodeSelectorTerms',
  ]);
  const body = { metadata: { labels: { zone: 'a' } } };
  await fixture.cluster.resource(nodes).patch({ name: 'n1' }, { type: 'merge', body });
  await fixture.settle();
  expect(await phases(fixture)).toEqual(['web Running']);
});

test('volumes of a deleted node are detached with the last pod', async () => {
  await using fixture = await VirtualTimeCluster.start(nodeAgentController());
  for (const name of ['n1', 'n2']) await makeNode(fixture, name);
  await makeClaim(fixture, 'data');
  await makePod(fixture, 'web', { claims: ['data'] });
  await fixture.settle();
  await fixture.cluster.resource(nodes).delete({ name: 'n1' });
  await makePod(fixture, 'late', { node: 'n2', claims: ['data'] });
  await fixture.settle();
  expect(await attached(fixture)).toEqual(['v-data on n1']);
  await removePod(fixture, 'web');
  await fixture.settle();
  expect(await attached(fixture)).toEqual(['v-data on n2']);
});

test('an attachment of another client is left alone', async () => {
  await using fixture = await VirtualTimeCluster.start(nodeAgentController());
  await makeNode(fixture, 'n1');
  await makeClaim(fixture, 'data');
  const client = fixture.cluster.resource(volumeAttachments);
  const attachment = (name: string, volumeName: string) => ({
    metadata: { name },
    spec: { attacher: 'e2e.example.com', nodeName: 'n1', source: { persistentVolumeName: volumeName } },
  });
  await client.create(attachment('theirs', 'v-data'));
  await client.create(attachment('for-a-missing-volume', 'missing'));
  await fixture.settle();
  const { items } = await client.list();
  expect(items.map(({ metadata }) => metadata?.name)).toEqual(['for-a-missing-volume', 'theirs']);
});

test('an attachment of ours whose volume is gone is removed', async () => {
  await using fixture = await VirtualTimeCluster.start(nodeAgentController());
  await makeNode(fixture, 'n1');
  const name = attachmentName('gone', testDriver, 'n1');
  const spec = { attacher: testDriver, nodeName: 'n1', source: { persistentVolumeName: 'gone' } };
  await fixture.cluster.resource(volumeAttachments).create({ metadata: { name }, spec });
  await fixture.settle();
  expect(await attached(fixture)).toEqual([]);
});
