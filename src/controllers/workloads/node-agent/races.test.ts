import { expect, test } from 'vitest';
import type { Cluster } from '../../../cluster/cluster.ts';
import { persistentVolumeClaims, volumeAttachments } from '../../../kube/resources.ts';
import { TrialCluster } from '../../testing/trial-cluster.ts';
import { nodeAgent } from './node-agent.ts';
import { makeClaim, makeNode, makePod, namespace, phases, readClaim } from './testing/agent-fixture.ts';

/** The cluster, but somebody is always a moment faster than the first change of a claim. */
function outrun(cluster: Cluster, faster: () => Promise<unknown>): Cluster {
  let hasRun = false;
  return {
    resource: (resource) => {
      const client = cluster.resource(resource);
      const patch: typeof client.patch = async (...call) => {
        if (resource.plural === persistentVolumeClaims.plural && !hasRun) {
          hasRun = true;
          await faster();
        }
        return await client.patch(...call);
      };
      return new Proxy(client, {
        get: (target, member) => {
          if (member === 'patch') return patch;
          const value: unknown = Reflect.get(target, member, target);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    },
  };
}

test('a rollback that begins while a pod is being started wins, and nothing is mounted', async () => {
  await using trial = await TrialCluster.start();
  await makeNode(trial, 'n1');
  await makeClaim(trial, 'data');
  await makePod(trial, 'web', { claims: ['data'] });
  const body = { metadata: { annotations: { 'stowage.dev/rollback': 'yes' } } };
  const claims = trial.cluster.resource(persistentVolumeClaims);
  const rollBack = () => claims.patch({ namespace, name: 'data' }, { type: 'merge', body });
  trial.run([nodeAgent], outrun(trial.cluster, rollBack));
  await trial.settle();
  expect(await phases(trial)).toEqual(['web Pending']);
  expect((await readClaim(trial, 'data')).metadata?.annotations).toEqual({ 'stowage.dev/rollback': 'yes' });
  expect((await trial.cluster.resource(volumeAttachments).list()).items).toEqual([]);
});

test.each(['ReadWriteOncePod', 'ReadWriteOnce'] as const)(
  'two agents at once let one of two pods on different nodes have a volume that is %s',
  async (mode) => {
    await using trial = await TrialCluster.start();
    for (const name of ['n1', 'n2']) await makeNode(trial, name);
    await makeClaim(trial, 'data', { mode });
    await makePod(trial, 'a', { node: 'n1', claims: ['data'] });
    await makePod(trial, 'b', { node: 'n2', claims: ['data'] });
    for (const _ of [1, 2]) trial.run([nodeAgent]);
    await trial.settle(2_000);
    const states = (await phases(trial)).map((state) => state.split(' ')[1]).sort();
    expect(states).toEqual(['Pending', 'Running']);
    const { items } = await trial.cluster.resource(volumeAttachments).list();
    expect(items).toHaveLength(1);
    expect(trial.troubles).toEqual([]);
  },
);
