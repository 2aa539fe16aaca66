/** The zonal example of the design proposal, step by step, with the scheduler. */
import { expect, test } from 'vitest';
import type { PersistentVolumeClaim } from '../../../kube/api/core.ts';
import { persistentVolumeClaims, persistentVolumes } from '../../../kube/resources.ts';
import { annotations, labels } from '../../../kube/well-known.ts';
import { affinityLines, termsOf } from '../../provisioner/testing/objects.ts';
import { namespace, SchedulerFixture } from '../testing/scheduler-fixture.ts';
import { cpu, zonalDriver } from './testing/fixtures.ts';

const standard = { storageClassName: 'standard' };

async function startFixture(more = {}): Promise<SchedulerFixture> {
  const fixture = await SchedulerFixture.start({ nodes: [] });
  for (const [name, zone] of Object.entries({
    a1: 'us-central1-a',
    a2: 'us-central1-a',
    b1: 'us-central1-b',
  }))
    await fixture.node(name, { labels: { [labels.zone]: zone } });
  // 1. The administrator creates a class with delayed binding. 2. The provisioner runs.
  await fixture.storageClass('standard', { provisioner: zonalDriver, ...more });
  return fixture;
}

async function claimNamed(fixture: SchedulerFixture, name: string): Promise<PersistentVolumeClaim> {
  return await fixture.cluster.resource(persistentVolumeClaims).get({ namespace, name });
}

/** The node affinity of the claim's volume. */
async function reachOf(fixture: SchedulerFixture, claim: string): Promise<readonly string[]> {
  const { volumeName = '' } = (await claimNamed(fixture, claim)).spec ?? {};
  const { spec } = await fixture.cluster.resource(persistentVolumes).get({ name: volumeName });
  return affinityLines(spec?.nodeAffinity);
}

test('the zonal example, step by step', async () => {
  await using fixture = await startFixture();
  // 3. The user creates a claim. It is not bound immediately.
  await fixture.claim('my-pvc', '100Gi', standard);
  await fixture.settle();
  expect((await claimNamed(fixture, 'my-pvc')).status?.phase).toBe('Pending');
  expect(await fixture.eventsOf('my-pvc')).toEqual([
    'WaitForFirstConsumer: waiting for first consumer to be created before binding',
  ]);
  // 4. The user creates a pod, which does not fit in zone a.
  for (const node of ['a1', 'a2'])
    await fixture.pod(`busy-${node}`, [], { spec: { nodeName: node, ...cpu('6') } });
  await fixture.pod('my-pod', ['my-pvc'], { spec: cpu('4') });
  await fixture.settle();
  // 5. The scheduler selects a node. 6. The provisioner creates the volume where that node can reach it.
  expect((await claimNamed(fixture, 'my-pvc')).metadata?.annotations?.[annotations.selectedNode]).toBe('b1');
  expect(await reachOf(fixture, 'my-pvc')).toEqual(['zone=us-central1-b']);
  expect((await claimNamed(fixture, 'my-pvc')).status?.phase).toBe('Bound');
  // 7. The pod is bound to that node, and runs.
  expect(await fixture.place('my-pod')).toBe('b1');
  expect((await fixture.getPod('my-pod')).status?.phase).toBe('Running');
  expect(await fixture.eventsOf('my-pod')).toContain('Scheduled: Successfully assigned default/my-pod to b1');
});

test('two claims of one pod are provisioned in one zone', async () => {
  await using fixture = await startFixture();
  for (const name of ['data', 'log']) await fixture.claim(name, '1Gi', standard);
  await fixture.pod('web', ['data', 'log']);
  await fixture.settle();
  expect(await fixture.place('web')).toMatch(/^[ab]\d$/);
  expect(await reachOf(fixture, 'data')).toEqual(await reachOf(fixture, 'log'));
});

test('allowed topologies keep the pod out of the other zones', async () => {
  await using fixture = await startFixture({ allowedTopologies: termsOf('zone=us-central1-b') });
  await fixture.claim('data', '1Gi', standard);
  await fixture.pod('web', ['data']);
  await fixture.settle();
  expect(await fixture.place('web')).toBe('b1');
  await fixture.claim('more', '1Gi', standard);
  await fixture.pod('astray', ['more'], { spec: { nodeSelector: { [labels.zone]: 'us-central1-a' } } });
  await fixture.settle();
  expect(await fixture.place('astray')).toContain(
    "1 node(s) didn't match Pod's node affinity/selector, 2 node(s) didn't find available persistent volumes to bind",
  );
});

test('a re-created pod goes to the zone of its volume', async () => {
  await using fixture = await startFixture();
  await fixture.claim('data', '1Gi', standard);
  await fixture.pod('web', ['data'], { spec: { nodeSelector: { [labels.hostname]: 'b1' } } });
  await fixture.settle();
  await fixture.deletePod('web');
  await fixture.settle(3_000);
  await fixture.pod('web', ['data']);
  await fixture.settle();
  expect(await fixture.place('web')).toBe('b1');
  await fixture.pod('rival', ['data'], { spec: { nodeSelector: { [labels.zone]: 'us-central1-a' } } });
  await fixture.settle();
  expect(await fixture.place('rival')).toContain("2 node(s) didn't match PersistentVolume's node affinity");
});
