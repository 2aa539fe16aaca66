import { expect, test } from 'vitest';
import type { Cluster } from '../../../cluster/cluster.ts';
import { nodes, pods, volumeAttachments } from '../../../kube/resources.ts';
import { crashControllersAtEveryWrite } from '../../testing/crash-at-every-write.ts';
import { VirtualTimeCluster } from '../../testing/virtual-time-cluster.ts';
import { nodeAgent } from './node-agent.ts';
import { getPod, makeClaim, makeNode, makePod, namespace, phases } from './testing/agent-fixture.ts';

const finalizers = ['example.com/keep'];

/** Keeps what is deleted in sight. */
async function hold({ cluster }: VirtualTimeCluster, name: string): Promise<void> {
  const body = { metadata: { finalizers } };
  await cluster.resource(pods).patch({ namespace, name }, { type: 'merge', body });
}

async function removeNode({ cluster }: VirtualTimeCluster): Promise<void> {
  await cluster.resource(nodes).delete({ name: 'n1' });
}

test('pods of a node that is gone fail and go, once it has been gone for a while', async () => {
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

test('a pod of a node that is gone goes after the same time where it was deleted, or was never started', async () => {
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

/** The cluster, but lists of nodes are empty: a cache that is late. */
function withoutNodesInLists(cluster: Cluster): Cluster {
  return {
    resource: (resource) => {
      const client = cluster.resource(resource);
      const list: typeof client.list = async (...call) => {
        const found = await client.list(...call);
        return resource.plural === nodes.plural ? { ...found, items: [] } : found;
      };
      return new Proxy(client, {
        get: (target, member) => {
          if (member === 'list') return list;
          const value: unknown = Reflect.get(target, member, target);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    },
  };
}

test('a node that only the cache is missing is not gone', async () => {
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

test('dying after any write changes nothing: all that was on the node is let go of', async () => {
  const places = await crashControllersAtEveryWrite({
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
  expect(places).toBeGreaterThanOrEqual(4);
});
