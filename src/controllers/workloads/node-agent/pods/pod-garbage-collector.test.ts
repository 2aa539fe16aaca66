import { expect, test } from 'vitest';
import type { Cluster } from '../../../../cluster/cluster.ts';
import { InterceptedCluster } from '../../../../cluster/intercepted-cluster.ts';
import type { ListPage } from '../../../../kube/api-requests.ts';
import { leases, nodes, pods, volumeAttachments } from '../../../../kube/resources.ts';
import { crashControllersAtEveryWrite } from '../../../testing/crash-at-every-write.ts';
import { VirtualTimeCluster } from '../../../testing/virtual-time-cluster.ts';
import { nodeAgentController } from '../node-agent.ts';
import { getPod, makeClaim, makeNode, makePod, namespace, phases } from '../testing/agent-fixture.ts';

const finalizers = ['example.com/keep'];

/** Keeps deleted objects visible. */
async function hold({ cluster }: VirtualTimeCluster, name: string): Promise<void> {
  const body = { metadata: { finalizers } };
  await cluster.resource(pods).patch({ namespace, name }, { type: 'merge', body });
}

async function removeNode({ cluster }: VirtualTimeCluster): Promise<void> {
  await cluster.resource(nodes).delete({ name: 'n1' });
}

test('pods of a deleted node fail and are removed, after some time', async () => {
  await using fixture = await VirtualTimeCluster.start(nodeAgentController());
  await makeNode(fixture, 'n1');
  for (const name of ['web', 'held']) await makePod(fixture, name);
  await hold(fixture, 'held');
  await fixture.settle();
  await removeNode(fixture);
  await fixture.settle(39_000);
  expect(await phases(fixture)).toEqual(['held Running', 'web Running']);
  await fixture.settle(2_000);
  expect(await phases(fixture)).toEqual(['held Failed']);
  const { metadata, status } = await getPod(fixture, 'held');
  expect(metadata?.deletionGracePeriodSeconds).toBe(0);
  expect(status?.conditions?.find(({ type }) => type === 'DisruptionTarget')).toMatchObject({
    status: 'True',
    reason: 'DeletionByPodGC',
    message: 'PodGC: node no longer exists',
  });
  expect(fixture.errors).toEqual([]);
});

test('a pod of a deleted node is removed after the same time if it was deleted, or was never started', async () => {
  await using fixture = await VirtualTimeCluster.start(nodeAgentController());
  await makeNode(fixture, 'n1');
  await makePod(fixture, 'web');
  await fixture.settle();
  await removeNode(fixture);
  await fixture.cluster.resource(pods).delete({ namespace, name: 'web' });
  await makePod(fixture, 'never', { node: 'n2' });
  await fixture.settle();
  expect(await phases(fixture)).toEqual(['never Pending', 'web Running']);
  await fixture.settle(41_000);
  expect(await phases(fixture)).toEqual([]);
});

test('all pods of a deleted node are removed together; a pod that is seen later waits as long again', async () => {
  await using fixture = await VirtualTimeCluster.start(nodeAgentController());
  await makeNode(fixture, 'n1');
  await makePod(fixture, 'web');
  await fixture.settle();
  await removeNode(fixture);
  await fixture.settle(30_000);
  await makePod(fixture, 'second');
  await fixture.settle(11_000);
  expect(await phases(fixture)).toEqual([]);
  await makePod(fixture, 'later');
  await fixture.settle(39_000);
  expect(await phases(fixture)).toEqual(['later Pending']);
  await fixture.settle(2_000);
  expect(await phases(fixture)).toEqual([]);
});

test('a node that comes back in time keeps its pods', async () => {
  await using fixture = await VirtualTimeCluster.start(nodeAgentController());
  await makeNode(fixture, 'n1');
  await makePod(fixture, 'web');
  await fixture.settle();
  await removeNode(fixture);
  await fixture.settle(30_000);
  await makeNode(fixture, 'n1');
  await fixture.settle(30_000);
  await removeNode(fixture);
  await fixture.settle(30_000);
  expect(await phases(fixture)).toEqual(['web Running']);
});

/** The cluster, but lists of nodes are empty: a stale cache. */
function withoutNodesInLists(cluster: Cluster): Cluster {
  return new InterceptedCluster(cluster, {
    answer: ({ verb, resource, send }) => {
      if (verb !== 'list' || resource.plural !== nodes.plural) return undefined;
      return { value: send().then((page) => ({ ...(page as ListPage<unknown>), items: [] })) };
    },
  });
}

test('a node that is missing only in the cache is not gone', async () => {
  await using fixture = await VirtualTimeCluster.start();
  await makeNode(fixture, 'n1');
  await makePod(fixture, 'web');
  fixture.run([nodeAgentController()], withoutNodesInLists(fixture.cluster));
  await fixture.settle(120_000);
  expect(await phases(fixture)).toEqual(['web Pending']);
  await removeNode(fixture);
  await fixture.settle(121_000);
  expect(await phases(fixture)).toEqual([]);
});

test('a pod that was deleted before it had a node fails', async () => {
  await using fixture = await VirtualTimeCluster.start(nodeAgentController());
  const spec = { containers: [{ name: 'main', image: 'pause' }] };
  for (const name of ['web', 'other'])
    await fixture.cluster.resource(pods).create({ metadata: { namespace, name, finalizers }, spec });
  await fixture.cluster.resource(pods).delete({ namespace, name: 'web' });
  await fixture.settle();
  expect(await phases(fixture)).toEqual(['other Pending', 'web Failed']);
});

test('a pod that is being deleted ends on a node that is out of service, and only if its kubelet does not answer', async () => {
  await using fixture = await VirtualTimeCluster.start(nodeAgentController());
  const { cluster } = fixture;
  const kubelet = { holderIdentity: 'n1', leaseDurationSeconds: 40 };
  await cluster
    .resource(leases)
    .create({ metadata: { namespace: 'kube-node-lease', name: 'n1' }, spec: kubelet });
  await makeNode(fixture, 'n1');
  for (const name of ['web', 'kept']) await makePod(fixture, name);
  await fixture.settle();
  await cluster.resource(pods).delete({ namespace, name: 'web' });
  const ready = (status: string) =>
    cluster
      .resource(nodes)
      .patch(
        { name: 'n1' },
        { type: 'merge', body: { status: { conditions: [{ type: 'Ready', status }] } } },
        { subresource: 'status' },
      );
  const taints = [{ key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' }];
  await ready('True');
  await cluster.resource(nodes).patch({ name: 'n1' }, { type: 'merge', body: { spec: { taints } } });
  await fixture.settle(60_000);
  expect(await phases(fixture)).toContain('web Pending');
  await ready('Unknown');
  await fixture.settle();
  expect((await phases(fixture)).join()).not.toContain('web');
  expect(fixture.errors).toEqual([]);
});

test('of finished pods above the limit, evicted ones go first, then the oldest', async () => {
  await using fixture = await VirtualTimeCluster.start(nodeAgentController({ terminatedPodsMax: 2 }));
  const { cluster } = fixture;
  const spec = { containers: [{ name: 'main', image: 'pause' }] };
  const finish = async (name: string, status: object) => {
    await cluster.resource(pods).create({ metadata: { namespace, name }, spec });
    await cluster
      .resource(pods)
      .patch({ namespace, name }, { type: 'merge', body: { status } }, { subresource: 'status' });
    await fixture.settle(1_000);
  };
  await finish('old', { phase: 'Succeeded' });
  await finish('older-than-new', { phase: 'Failed' });
  await finish('evicted', { phase: 'Failed', reason: 'Evicted' });
  await finish('new', { phase: 'Succeeded' });
  expect(await phases(fixture)).toHaveLength(4);
  await fixture.settle(30_000);
  expect(await phases(fixture)).toEqual(['new Succeeded', 'older-than-new Failed']);
  expect(fixture.errors).toEqual([]);
});

test('crashing after any write changes nothing: all volumes on the node are detached', async () => {
  const crashes = await crashControllersAtEveryWrite({
    controllers: [nodeAgentController()],
    prepare: async (fixture) => {
      await makeNode(fixture, 'n1');
      await makeClaim(fixture, 'data');
      await makePod(fixture, 'web', { claims: ['data'] });
      await makePod(fixture, 'other');
      await using _earlier = fixture.run([nodeAgentController()]);
      await fixture.settle();
      await removeNode(fixture);
    },
    resources: [pods, volumeAttachments],
    settleMs: 60_000,
  });
  expect(crashes).toBeGreaterThanOrEqual(4);
});
