import { expect, test } from 'vitest';
import type { Cluster } from '../../../../cluster/cluster.ts';
import { InterceptedCluster } from '../../../../cluster/intercepted-cluster.ts';
import type { ListPage } from '../../../../kube/api-requests.ts';
import { nodes, pods, volumeAttachments } from '../../../../kube/resources.ts';
import { crashControllersAtEveryWrite } from '../../../testing/crash-at-every-write.ts';
import { VirtualTimeCluster } from '../../../testing/virtual-time-cluster.ts';
import { nodeAgent } from '../node-agent.ts';
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
  await using fixture = await VirtualTimeCluster.start(nodeAgent);
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
  await using fixture = await VirtualTimeCluster.start(nodeAgent);
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

test('a node that comes back in time keeps its pods', async () => {
  await using fixture = await VirtualTimeCluster.start(nodeAgent);
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
  fixture.run([nodeAgent], withoutNodesInLists(fixture.cluster));
  await fixture.settle(120_000);
  expect(await phases(fixture)).toEqual(['web Pending']);
});

test('a pod that was deleted before it had a node fails', async () => {
  await using fixture = await VirtualTimeCluster.start(nodeAgent);
  const spec = { containers: [{ name: 'main', image: 'pause' }] };
  for (const name of ['web', 'other'])
    await fixture.cluster.resource(pods).create({ metadata: { namespace, name, finalizers }, spec });
  await fixture.cluster.resource(pods).delete({ namespace, name: 'web' });
  await fixture.settle();
  expect(await phases(fixture)).toEqual(['other Pending', 'web Failed']);
});

test('crashing after any write changes nothing: all volumes on the node are detached', async () => {
  const crashes = await crashControllersAtEveryWrite({
    controllers: [nodeAgent],
    prepare: async (fixture) => {
      await makeNode(fixture, 'n1');
      await makeClaim(fixture, 'data');
      await makePod(fixture, 'web', { claims: ['data'] });
      await makePod(fixture, 'other');
      await using _earlier = fixture.run([nodeAgent]);
      await fixture.settle();
      await removeNode(fixture);
    },
    resources: [pods, volumeAttachments],
    settleMs: 60_000,
  });
  expect(crashes).toBeGreaterThanOrEqual(4);
});
