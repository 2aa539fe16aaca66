import { expect, test } from 'vitest';
import { CrashAfterWrites } from '../../cluster/testing/fault-hooks.ts';
import { InterceptedCluster } from '../../cluster/testing/intercepted-cluster.ts';
import { persistentVolumeClaims, pods } from '../../kube/resources.ts';
import { allControllers } from '../all-controllers.ts';
import { nodeAgent } from '../workloads/node-agent/node-agent.ts';
import { Life, namespace } from './testing/life.ts';

/** A claim on a volume in zone a, and a pod that waits for its node. */
async function boundClaim(life: Life): Promise<void> {
  await life.makeClaim();
  await life.makePod('web', ['data']);
  await life.selectNode('data', 'a1');
  await life.settle();
  expect(await life.lines()).toContain('claim data Bound');
}

test('nobody mounts a claim whose binding is being undone, until that is over', async () => {
  await using life = await Life.start();
  await boundClaim(life);
  await life.annotateClaim('data', { 'stowage.dev/rollback': 'web' });
  await life.bindPod('web', 'a1');
  await life.settle();
  expect(await life.lines()).toContain('pod web Pending on a1');
  expect(await life.mark()).toBeUndefined();
  const { volumeName } = (await life.claim()).spec ?? {};
  expect(await life.toldOf('web')).toEqual([
    `FailedMount: MountVolume.SetUp failed for volume "${volumeName}" : the binding of claim data is being undone`,
  ]);
  await life.annotateClaim('data', { 'stowage.dev/rollback': null });
  await life.settle();
  expect(await life.lines()).toContain('pod web Running on a1');
  expect(await life.mark()).toMatch(/^a1\//);
});

test('a rollback that begins on a version without the mark fails once the node agent was first', async () => {
  await using life = await Life.start();
  await boundClaim(life);
  const judged = (await life.claim()).metadata;
  await life.bindPod('web', 'a1');
  await life.settle();
  const body = { resourceVersion: judged?.resourceVersion, annotations: { 'stowage.dev/rollback': 'web' } };
  const client = life.cluster.resource(persistentVolumeClaims);
  const patch = { type: 'merge', body: { metadata: body } } as const;
  await expect(client.patch({ namespace, name: 'data' }, patch)).rejects.toMatchObject({
    reason: 'Conflict',
  });
});

test('a pod never runs before the mark is on its claim', async () => {
  await using life = await Life.start();
  await boundClaim(life);
  const seen: (string | undefined)[] = [];
  const abort = new AbortController();
  const { metadata } = await life.cluster.resource(pods).list();
  const watching = (async () => {
    const { resourceVersion } = metadata;
    const options = { namespace, resourceVersion, signal: abort.signal };
    for await (const event of life.cluster.resource(pods).watch(options))
      if (event.type === 'MODIFIED' && event.object.status?.phase === 'Running') seen.push(await life.mark());
  })().catch(() => {});
  await life.bindPod('web', 'a1');
  await life.settle();
  abort.abort();
  await watching;
  const { uid } = (await life.cluster.resource(pods).get({ namespace, name: 'web' })).metadata ?? {};
  expect(seen[0]).toBe(`a1/${uid}`);
});

test('a node agent that dies over the mark leaves it: nobody knows whether a byte was written', async () => {
  const others = allControllers().filter(({ name }) => name !== nodeAgent.name);
  await using life = await Life.start({ controllers: others });
  const agent = life.trial.run([nodeAgent]);
  await boundClaim(life);
  await agent.close();
  await life.bindPod('web', 'a1');
  // First the node tells that the volume is in use; then comes the mark.
  const crash = new CrashAfterWrites(2);
  const crashing = new InterceptedCluster(life.cluster, crash);
  const dying = life.trial.run([nodeAgent], crashing);
  await life.settle();
  await dying.close();
  expect(await life.lines()).toContain('pod web Pending on a1');
  expect(await life.mark()).toMatch(/^a1\//);
});

test('the mark outlives the pod', async () => {
  await using life = await Life.start();
  await boundClaim(life);
  await life.bindPod('web', 'a1');
  await life.settle();
  const mark = await life.mark();
  await life.deletePod('web');
  await life.settle(60_000);
  expect(await life.lines()).toEqual(['claim data Bound', 'volume for data Bound']);
  expect(mark).toMatch(/^a1\//);
  expect(await life.mark()).toBe(mark);
});

test('a mark that nobody can read never comes off, and does not keep the next pod away', async () => {
  await using life = await Life.start();
  await boundClaim(life);
  await life.annotateClaim('data', { 'stowage.dev/mounted': '' });
  await life.bindPod('web', 'a1');
  await life.settle();
  expect(await life.lines()).toContain('pod web Running on a1');
  expect(await life.mark()).toMatch(/^a1\//);
});
