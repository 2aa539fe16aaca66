import { expect, test } from 'vitest';
import { csiDrivers, csiNodes, nodes, pods, volumeAttachments } from '../../../kube/resources.ts';
import { TrialCluster } from '../../testing/trial-cluster.ts';
import { attachmentName } from './attachments.ts';
import { nodeAgent } from './node-agent.ts';
import { driver, makeClaim, makeNode, makePod, namespace, phases } from './testing/agent-fixture.ts';

/** As `VOLUME on NODE`, and whether it is attached. */
async function attached({ cluster }: TrialCluster): Promise<readonly string[]> {
  const { items } = await cluster.resource(volumeAttachments).list();
  return items
    .map(({ spec, status }) => {
      const what = status?.attached === true ? 'on' : 'not yet on';
      return `${spec?.source?.persistentVolumeName} ${what} ${spec?.nodeName}`;
    })
    .sort();
}

async function removePod({ cluster }: TrialCluster, name: string): Promise<void> {
  await cluster.resource(pods).delete({ namespace, name }, { gracePeriodSeconds: 0 });
}

test('a volume of a CSI driver is attached while a pod uses it', async () => {
  await using trial = await TrialCluster.start(nodeAgent);
  await makeNode(trial, 'n1');
  await makeClaim(trial, 'data');
  await makePod(trial, 'web', { claims: ['data'] });
  await makePod(trial, 'web2', { claims: ['data'] });
  await trial.settle();
  expect(await attached(trial)).toEqual(['v-data on n1']);
  expect(await trial.told()).toEqual([
    expect.stringMatching(
      /^SuccessfulAttachVolume web2?: AttachVolume.Attach succeeded for volume "v-data" $/,
    ),
  ]);
  await removePod(trial, 'web');
  await trial.settle();
  expect(await attached(trial)).toEqual(['v-data on n1']);
  await removePod(trial, 'web2');
  await trial.settle();
  expect(await attached(trial)).toEqual([]);
});

test('attachments have the names that Kubernetes gives them', () => {
  expect(attachmentName('handle', 'driver', 'node')).toBe(
    'csi-fdef298eb16db6fa42906ef1ff09a93a7f3028f8290cc9d71628ff91c237bfa7',
  );
});

test('a driver that needs no attachment gets none, and other volumes neither', async () => {
  await using trial = await TrialCluster.start(nodeAgent);
  await makeNode(trial, 'n1');
  await trial.cluster
    .resource(csiDrivers)
    .create({ metadata: { name: driver }, spec: { attachRequired: false } });
  await makeClaim(trial, 'data');
  await makeClaim(trial, 'host', { spec: { hostPath: { path: '/a' } } });
  await makePod(trial, 'web', { claims: ['data', 'host'] });
  await trial.settle();
  expect(await phases(trial)).toEqual(['web Running']);
  expect(await attached(trial)).toEqual([]);
});

test('an attachment that somebody deletes under a running pod comes back', async () => {
  await using trial = await TrialCluster.start(nodeAgent);
  await makeNode(trial, 'n1');
  await makeClaim(trial, 'data');
  await makePod(trial, 'web', { claims: ['data'] });
  await trial.settle();
  const client = trial.cluster.resource(volumeAttachments);
  const { items } = await client.list();
  await client.delete({ name: items[0]?.metadata?.name ?? '' });
  await trial.settle();
  expect(await attached(trial)).toEqual(['v-data on n1']);
});

test('a volume for one node is not attached to a second one before the first has let go of it', async () => {
  await using trial = await TrialCluster.start(nodeAgent);
  for (const name of ['n1', 'n2']) await makeNode(trial, name);
  await makeClaim(trial, 'data');
  await makePod(trial, 'web', { claims: ['data'] });
  await makePod(trial, 'late', { node: 'n2', claims: ['data'] });
  await trial.settle();
  expect(await phases(trial)).toEqual(['late Pending', 'web Running']);
  expect(await attached(trial)).toEqual(['v-data on n1']);
  expect(await trial.told()).toContain(
    'FailedAttachVolume late: Multi-Attach error for volume "v-data" Volume is already used by pod(s) web',
  );
  await removePod(trial, 'web');
  await trial.settle();
  expect(await phases(trial)).toEqual(['late Running']);
  expect(await attached(trial)).toEqual(['v-data on n2']);
});

test('a volume for many nodes is attached to each', async () => {
  await using trial = await TrialCluster.start(nodeAgent);
  for (const name of ['n1', 'n2']) await makeNode(trial, name);
  await makeClaim(trial, 'data', { mode: 'ReadWriteMany' });
  await makePod(trial, 'web', { claims: ['data'] });
  await makePod(trial, 'web2', { node: 'n2', claims: ['data'] });
  await trial.settle();
  expect(await attached(trial)).toEqual(['v-data on n1', 'v-data on n2']);
});

test('of two pods that want a volume for one pod, one runs; the other when it is gone', async () => {
  await using trial = await TrialCluster.start(nodeAgent);
  await makeNode(trial, 'n1');
  await makeClaim(trial, 'data', { mode: 'ReadWriteOncePod' });
  for (const name of ['web', 'web2']) await makePod(trial, name, { claims: ['data'] });
  await trial.settle();
  const states = await phases(trial);
  const runner = states.find((state) => state.endsWith(' Running'))?.split(' ')[0] ?? '';
  expect(states.map((state) => state.split(' ')[1]).sort()).toEqual(['Pending', 'Running']);
  expect((await trial.told()).join()).toContain(
    'MountVolume.SetUp failed for volume "v-data" : volume uses the ReadWriteOncePod access mode and is already in use by another pod',
  );
  await removePod(trial, runner);
  await trial.settle();
  expect((await phases(trial)).map((state) => state.split(' ')[1])).toEqual(['Running']);
});

test('a node attaches no more volumes than its driver can', async () => {
  await using trial = await TrialCluster.start(nodeAgent);
  await makeNode(trial, 'n1');
  const drivers = [{ name: driver, nodeID: 'n1', topologyKeys: [], allocatable: { count: 2 } }];
  await trial.cluster.resource(csiNodes).create({ metadata: { name: 'n1' }, spec: { drivers } });
  for (const name of ['a', 'b', 'c', 'd']) await makeClaim(trial, name);
  for (const name of ['a', 'b', 'c', 'd']) await makePod(trial, name, { claims: [name] });
  await trial.settle();
  const running = (await phases(trial)).filter((state) => state.endsWith(' Running'));
  expect(running).toHaveLength(2);
  expect(await attached(trial)).toHaveLength(2);
  expect((await trial.told()).join()).toContain(
    'rpc error: code = ResourceExhausted desc = node n1 can attach no more volumes of d.example.com',
  );
  for (const state of running) await removePod(trial, state.split(' ')[0] ?? '');
  await trial.settle();
  expect((await phases(trial)).every((state) => state.endsWith(' Running'))).toBe(true);
});

test('a volume that cannot be reached from the node is not mounted, until the node can reach it', async () => {
  await using trial = await TrialCluster.start(nodeAgent);
  await makeNode(trial, 'n1');
  const matchExpressions = [{ key: 'zone', operator: 'In', values: ['a'] }] as const;
  const nodeAffinity = { required: { nodeSelectorTerms: [{ matchExpressions }] } };
  await makeClaim(trial, 'data', { spec: { local: { path: '/a' }, nodeAffinity } });
  await makePod(trial, 'web', { claims: ['data'] });
  await trial.settle();
  expect(await phases(trial)).toEqual(['web Pending']);
  expect(await trial.told()).toEqual([
    'FailedMount web: MountVolume.NodeAffinity check failed for volume "v-data" : no matching NodeSelectorTerms',
  ]);
  const body = { metadata: { labels: { zone: 'a' } } };
  await trial.cluster.resource(nodes).patch({ name: 'n1' }, { type: 'merge', body });
  await trial.settle();
  expect(await phases(trial)).toEqual(['web Running']);
});

test('what was attached to a node that is gone is let go of with the last pod', async () => {
  await using trial = await TrialCluster.start(nodeAgent);
  for (const name of ['n1', 'n2']) await makeNode(trial, name);
  await makeClaim(trial, 'data');
  await makePod(trial, 'web', { claims: ['data'] });
  await trial.settle();
  await trial.cluster.resource(nodes).delete({ name: 'n1' });
  await makePod(trial, 'late', { node: 'n2', claims: ['data'] });
  await trial.settle();
  expect(await attached(trial)).toEqual(['v-data on n1']);
  await removePod(trial, 'web');
  await trial.settle();
  expect(await attached(trial)).toEqual(['v-data on n2']);
});
