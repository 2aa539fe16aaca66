import { expect, test } from 'vitest';
import type { Cluster } from '../../../cluster/cluster.ts';
import { nodes, pods, volumeAttachments } from '../../../kube/resources.ts';
import { crashEverywhere } from '../../testing/crash-everywhere.ts';
import { TrialCluster } from '../../testing/trial-cluster.ts';
import { nodeAgent } from './node-agent.ts';
import { makeClaim, makeNode, makePod, namespace, phases, readPod } from './testing/agent-fixture.ts';

const finalizers = ['example.com/keep'];

/** Keeps what is deleted in sight. */
async function hold({ cluster }: TrialCluster, name: string): Promise<void> {
  const body = { metadata: { finalizers } };
  await cluster.resource(pods).patch({ namespace, name }, { type: 'merge', body });
}

async function removeNode({ cluster }: TrialCluster): Promise<void> {
  await cluster.resource(nodes).delete({ name: 'n1' });
}

test('pods of a node that is gone fail and go, once it has been gone for a while', async () => {
  await using trial = await TrialCluster.start(nodeAgent);
  await makeNode(trial, 'n1');
  for (const name of ['web', 'held']) await makePod(trial, name);
  await hold(trial, 'held');
  await trial.settle();
  await removeNode(trial);
  await trial.settle(39_000);
  expect(await phases(trial)).toEqual(['held Running', 'web Running']);
  await trial.settle(2_000);
  expect(await phases(trial)).toEqual(['held Failed']);
  const { metadata, status } = await readPod(trial, 'held');
  expect(metadata?.deletionGracePeriodSeconds).toBe(0);
  expect(status?.conditions?.find(({ type }) => type === 'DisruptionTarget')).toMatchObject({
    status: 'True',
    reason: 'DeletionByPodGC',
    message: 'PodGC: node no longer exists',
  });
  expect(trial.troubles).toEqual([]);
});

test('a pod of a node that is gone goes after the same time where it was deleted, or was never started', async () => {
  await using trial = await TrialCluster.start(nodeAgent);
  await makeNode(trial, 'n1');
  await makePod(trial, 'web');
  await trial.settle();
  await removeNode(trial);
  await trial.cluster.resource(pods).delete({ namespace, name: 'web' });
  await makePod(trial, 'never', { node: 'n2' });
  await trial.settle();
  expect(await phases(trial)).toEqual(['never Pending', 'web Running']);
  await trial.settle(41_000);
  expect(await phases(trial)).toEqual([]);
});

test('a node that comes back in time keeps its pods', async () => {
  await using trial = await TrialCluster.start(nodeAgent);
  await makeNode(trial, 'n1');
  await makePod(trial, 'web');
  await trial.settle();
  await removeNode(trial);
  await trial.settle(30_000);
  await makeNode(trial, 'n1');
  await trial.settle(30_000);
  await removeNode(trial);
  await trial.settle(30_000);
  expect(await phases(trial)).toEqual(['web Running']);
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
  await using trial = await TrialCluster.start();
  await makeNode(trial, 'n1');
  await makePod(trial, 'web');
  trial.run([nodeAgent], withoutNodesInLists(trial.cluster));
  await trial.settle(120_000);
  expect(await phases(trial)).toEqual(['web Pending']);
});

test('a pod that was deleted before it had a node fails', async () => {
  await using trial = await TrialCluster.start(nodeAgent);
  const spec = { containers: [{ name: 'main', image: 'pause' }] };
  for (const name of ['web', 'other'])
    await trial.cluster.resource(pods).create({ metadata: { namespace, name, finalizers }, spec });
  await trial.cluster.resource(pods).delete({ namespace, name: 'web' });
  await trial.settle();
  expect(await phases(trial)).toEqual(['other Pending', 'web Failed']);
});

test('dying after any write changes nothing: all that was on the node is let go of', async () => {
  const places = await crashEverywhere({
    controllers: [nodeAgent],
    prepare: async (trial) => {
      await makeNode(trial, 'n1');
      await makeClaim(trial, 'data');
      await makePod(trial, 'web', { claims: ['data'] });
      await makePod(trial, 'other');
      await using _earlier = trial.run([nodeAgent]);
      await trial.settle();
      await removeNode(trial);
    },
    resources: [pods, volumeAttachments],
    settleMs: 60_000,
  });
  expect(places).toBeGreaterThanOrEqual(4);
});
