import { expect, test } from 'vitest';
import type { Cluster } from '../../../cluster/cluster.ts';
import { type ClusterCall, InterceptedCluster } from '../../../cluster/intercepted-cluster.ts';
import { failure } from '../../../kube/api-error.ts';
import { persistentVolumeClaims, pods, volumeAttachments } from '../../../kube/resources.ts';
import { VirtualTimeCluster } from '../../testing/virtual-time-cluster.ts';
import { nodeAgentController } from './node-agent.ts';
import { getClaim, makeClaim, makeNode, makePod, namespace, phases } from './testing/agent-fixture.ts';

/** The cluster, but another client is always faster than the first change of a claim. */
function withFasterClient(cluster: Cluster, change: () => Promise<unknown>): Cluster {
  let hasChanged = false;
  return new InterceptedCluster(cluster, {
    before: async ({ verb, resource }) => {
      if (hasChanged || verb !== 'patch' || resource.plural !== persistentVolumeClaims.plural) return;
      hasChanged = true;
      await change();
    },
  });
}

test('a rollback that starts while a pod is being started wins, and nothing is mounted', async () => {
  await using fixture = await VirtualTimeCluster.start();
  await makeNode(fixture, 'n1');
  await makeClaim(fixture, 'data');
  await makePod(fixture, 'web', { claims: ['data'] });
  const body = { metadata: { annotations: { 'stowage.dev/rollback': 'yes' } } };
  const claims = fixture.cluster.resource(persistentVolumeClaims);
  const rollBack = () => claims.patch({ namespace, name: 'data' }, { type: 'merge', body });
  fixture.run([nodeAgentController()], withFasterClient(fixture.cluster, rollBack));
  await fixture.settle();
  expect(await phases(fixture)).toEqual(['web Pending']);
  expect((await getClaim(fixture, 'data')).metadata?.annotations).toEqual({ 'stowage.dev/rollback': 'yes' });
  expect((await fixture.cluster.resource(volumeAttachments).list()).items).toEqual([]);
});

test.each(['ReadWriteOncePod', 'ReadWriteOnce'] as const)(
  'two agents at once let one of two pods on different nodes have a volume that is %s',
  async (mode) => {
    await using fixture = await VirtualTimeCluster.start();
    for (const name of ['n1', 'n2']) await makeNode(fixture, name);
    await makeClaim(fixture, 'data', { mode });
    await makePod(fixture, 'a', { node: 'n1', claims: ['data'] });
    await makePod(fixture, 'b', { node: 'n2', claims: ['data'] });
    for (const _ of [1, 2]) fixture.run([nodeAgentController()]);
    await fixture.settle(2_000);
    const states = (await phases(fixture)).map((state) => state.split(' ')[1]).sort();
    expect(states).toEqual(['Pending', 'Running']);
    const { items } = await fixture.cluster.resource(volumeAttachments).list();
    expect(items).toHaveLength(1);
    expect(fixture.errors).toEqual([]);
  },
);

/** The cluster, but the first deletion of an attachment gets no response; it is put into `late`. */
function withLateDetachment(cluster: Cluster, late: ClusterCall[]): Cluster {
  return new InterceptedCluster(cluster, {
    before: (call) => {
      if (late.length > 0 || call.verb !== 'delete' || call.resource.plural !== volumeAttachments.plural)
        return;
      late.push(call);
      throw failure(504, 'Timeout', 'there was no response');
    },
  });
}

test('a pod does not start with an attachment whose deletion may still arrive', async () => {
  await using fixture = await VirtualTimeCluster.start();
  await makeNode(fixture, 'n1');
  await makeClaim(fixture, 'data');
  await makePod(fixture, 'first', { claims: ['data'] });
  const late: ClusterCall[] = [];
  fixture.run([nodeAgentController()], withLateDetachment(fixture.cluster, late));
  await fixture.settle();
  const [old] = (await fixture.cluster.resource(volumeAttachments).list()).items;
  await fixture.cluster.resource(pods).delete({ namespace, name: 'first' }, { gracePeriodSeconds: 0 });
  while (late.length === 0) await fixture.settle(1);
  await makePod(fixture, 'second', { claims: ['data'] });
  await fixture.settle(10_000);
  expect(await phases(fixture)).toEqual(['second Running']);
  const { items } = await fixture.cluster.resource(volumeAttachments).list();
  expect(items.map(({ metadata }) => metadata?.uid === old?.metadata?.uid)).toEqual([false]);
  await expect(late[0]?.send()).rejects.toThrow('does not match the UID');
});

test('an agent does not start a pod with an attachment whose deletion an earlier agent has sent', async () => {
  await using fixture = await VirtualTimeCluster.start();
  await makeNode(fixture, 'n1');
  await makeClaim(fixture, 'data');
  await makePod(fixture, 'first', { claims: ['data'] });
  const late: ClusterCall[] = [];
  const agent = fixture.run([nodeAgentController()], withLateDetachment(fixture.cluster, late));
  await fixture.settle();
  await fixture.cluster.resource(pods).delete({ namespace, name: 'first' }, { gracePeriodSeconds: 0 });
  while (late.length === 0) await fixture.settle(1);
  await agent.close();
  await makePod(fixture, 'second', { claims: ['data'] });
  fixture.run([nodeAgentController()]);
  await fixture.settle(10_000);
  expect(await phases(fixture)).toEqual(['second Running']);
  await expect(late[0]?.send()).rejects.toThrow('does not match the ResourceVersion');
});
