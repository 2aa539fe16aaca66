import { expect, test } from 'vitest';
import { InterceptedCluster } from '../../cluster/intercepted-cluster.ts';
import { CrashAfterWrites } from '../../cluster/testing/fault-hooks.ts';
import { persistentVolumeClaims, pods } from '../../kube/resources.ts';
import { allControllers } from '../all-controllers.ts';
import { nodeAgentController } from '../workloads/node-agent/node-agent.ts';
import { LifecycleFixture, namespace } from './testing/lifecycle-fixture.ts';

/** A claim on a volume in zone a, and a pod that waits for its node. */
async function boundClaim(fixture: LifecycleFixture): Promise<void> {
  await fixture.makeClaim();
  await fixture.makePod('web', ['data']);
  await fixture.selectNode('data', 'a1');
  await fixture.settle();
  expect(await fixture.lines()).toContain('claim data Bound');
}

test('a claim is not mounted during a rollback of its binding', async () => {
  await using fixture = await LifecycleFixture.start();
  await boundClaim(fixture);
  await fixture.annotateClaim('data', { 'stowage.dev/rollback': 'web' });
  await fixture.bindPod('web', 'a1');
  await fixture.settle();
  expect(await fixture.lines()).toContain('pod web Pending on a1');
  expect(await fixture.mark()).toBeUndefined();
  const { volumeName } = (await fixture.claim()).spec ?? {};
  expect(await fixture.eventsOf('web')).toEqual([
    `FailedMount: MountVolume.SetUp failed for volume "${volumeName}" : the binding of claim data is being rolled back`,
  ]);
  await fixture.annotateClaim('data', { 'stowage.dev/rollback': null });
  await fixture.settle();
  expect(await fixture.lines()).toContain('pod web Running on a1');
  expect(await fixture.mark()).toMatch(/^a1\//);
});

test('a rollback that starts on a version without the annotation fails if the node agent was first', async () => {
  await using fixture = await LifecycleFixture.start();
  await boundClaim(fixture);
  const judged = (await fixture.claim()).metadata;
  await fixture.bindPod('web', 'a1');
  await fixture.settle();
  const body = { resourceVersion: judged?.resourceVersion, annotations: { 'stowage.dev/rollback': 'web' } };
  const client = fixture.cluster.resource(persistentVolumeClaims);
  const patch = { type: 'merge', body: { metadata: body } } as const;
  await expect(client.patch({ namespace, name: 'data' }, patch)).rejects.toMatchObject({
    reason: 'Conflict',
  });
});

test('a pod never runs before its claim has the annotation', async () => {
  await using fixture = await LifecycleFixture.start();
  await boundClaim(fixture);
  const seen: (string | undefined)[] = [];
  const abort = new AbortController();
  const { metadata } = await fixture.cluster.resource(pods).list();
  const watching = (async () => {
    const { resourceVersion } = metadata;
    const options = { namespace, resourceVersion, signal: abort.signal };
    for await (const event of fixture.cluster.resource(pods).watch(options))
      if (event.type === 'MODIFIED' && event.object.status?.phase === 'Running')
        seen.push(await fixture.mark());
  })().catch(() => {});
  await fixture.bindPod('web', 'a1');
  await fixture.settle();
  abort.abort();
  await watching;
  const { uid } = (await fixture.cluster.resource(pods).get({ namespace, name: 'web' })).metadata ?? {};
  expect(seen[0]).toBe(`a1/${uid}`);
});

test('a node agent that crashes around the annotation leaves it: a byte may have been written', async () => {
  const others = allControllers().filter(({ name }) => name !== nodeAgentController().name);
  await using fixture = await LifecycleFixture.start({ controllers: others });
  const agent = fixture.virtualTime.run([nodeAgentController()]);
  await boundClaim(fixture);
  await agent.close();
  await fixture.bindPod('web', 'a1');
  // First the node reports the volume as in use; then the annotation is written.
  const crash = new CrashAfterWrites(2);
  const crashing = new InterceptedCluster(fixture.cluster, crash);
  const crashed = fixture.virtualTime.run([nodeAgentController()], crashing);
  await fixture.settle();
  await crashed.close();
  expect(await fixture.lines()).toContain('pod web Pending on a1');
  expect(await fixture.mark()).toMatch(/^a1\//);
});

test('the annotation stays after the pod', async () => {
  await using fixture = await LifecycleFixture.start();
  await boundClaim(fixture);
  await fixture.bindPod('web', 'a1');
  await fixture.settle();
  const mark = await fixture.mark();
  await fixture.deletePod('web');
  await fixture.settle(60_000);
  expect(await fixture.lines()).toEqual(['claim data Bound', 'volume for data Bound']);
  expect(mark).toMatch(/^a1\//);
  expect(await fixture.mark()).toBe(mark);
});

test('an unreadable annotation is never removed, and does not block the next pod', async () => {
  await using fixture = await LifecycleFixture.start();
  await boundClaim(fixture);
  await fixture.annotateClaim('data', { 'stowage.dev/mounted': '' });
  await fixture.bindPod('web', 'a1');
  await fixture.settle();
  expect(await fixture.lines()).toContain('pod web Running on a1');
  expect(await fixture.mark()).toMatch(/^a1\//);
});
