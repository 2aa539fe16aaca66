/** The design proposal's zonal example, step by step, with the scheduler in it. */
import { expect, test } from 'vitest';
import type { PersistentVolumeClaim } from '../../../kube/api/core.ts';
import { persistentVolumeClaims, persistentVolumes } from '../../../kube/resources.ts';
import { annotations, labels } from '../../../kube/well-known.ts';
import { affinityLines, termsOf } from '../../provisioner/testing/objects.ts';
import { namespace, SchedulerWorld } from '../testing/scheduler-world.ts';
import { cpu, zonalDriver } from './testing/furniture.ts';

const standard = { storageClassName: 'standard' };

async function startWorld(more = {}): Promise<SchedulerWorld> {
  const world = await SchedulerWorld.start({ nodes: [] });
  for (const [name, zone] of Object.entries({
    a1: 'us-central1-a',
    a2: 'us-central1-a',
    b1: 'us-central1-b',
  }))
    await world.node(name, { labels: { [labels.zone]: zone } });
  // 1. The administrator makes a class that waits. 2. The provisioner runs.
  await world.storageClass('standard', { provisioner: zonalDriver, ...more });
  return world;
}

async function claimNamed(world: SchedulerWorld, name: string): Promise<PersistentVolumeClaim> {
  return await world.cluster.resource(persistentVolumeClaims).get({ namespace, name });
}

/** Where the claim's volume can be reached. */
async function reachOf(world: SchedulerWorld, claim: string): Promise<readonly string[]> {
  const { volumeName = '' } = (await claimNamed(world, claim)).spec ?? {};
  const { spec } = await world.cluster.resource(persistentVolumes).get({ name: volumeName });
  return affinityLines(spec?.nodeAffinity);
}

test('the zonal example, step by step', async () => {
  await using world = await startWorld();
  // 3. The user makes a claim. It isn't bound at once.
  await world.claim('my-pvc', '100Gi', standard);
  await world.settle();
  expect((await claimNamed(world, 'my-pvc')).status?.phase).toBe('Pending');
  expect(await world.toldOf('my-pvc')).toEqual([
    'WaitForFirstConsumer: waiting for first consumer to be created before binding',
  ]);
  // 4. The user makes a pod, which has no room in zone a.
  for (const node of ['a1', 'a2'])
    await world.pod(`busy-${node}`, [], { spec: { nodeName: node, ...cpu('6') } });
  await world.pod('my-pod', ['my-pvc'], { spec: cpu('4') });
  await world.settle();
  // 5. The scheduler picked a node. 6. The volume was made where it is reached from there.
  expect((await claimNamed(world, 'my-pvc')).metadata?.annotations?.[annotations.selectedNode]).toBe('b1');
  expect(await reachOf(world, 'my-pvc')).toEqual(['zone=us-central1-b']);
  expect((await claimNamed(world, 'my-pvc')).status?.phase).toBe('Bound');
  // 7. The pod is on that node, and runs.
  expect(await world.place('my-pod')).toBe('b1');
  expect((await world.getPod('my-pod')).status?.phase).toBe('Running');
  expect(await world.toldOf('my-pod')).toContain('Scheduled: Successfully assigned default/my-pod to b1');
});

test('two claims of one pod are made in one zone', async () => {
  await using world = await startWorld();
  for (const name of ['data', 'log']) await world.claim(name, '1Gi', standard);
  await world.pod('web', ['data', 'log']);
  await world.settle();
  expect(await world.place('web')).toMatch(/^[ab]\d$/);
  expect(await reachOf(world, 'data')).toEqual(await reachOf(world, 'log'));
});

test('allowed topologies keep the pod out of the other zones', async () => {
  await using world = await startWorld({ allowedTopologies: termsOf('zone=us-central1-b') });
  await world.claim('data', '1Gi', standard);
  await world.pod('web', ['data']);
  await world.settle();
  expect(await world.place('web')).toBe('b1');
  await world.claim('more', '1Gi', standard);
  await world.pod('astray', ['more'], { spec: { nodeSelector: { [labels.zone]: 'us-central1-a' } } });
  await world.settle();
  expect(await world.place('astray')).toContain(
    "1 node(s) didn't match Pod's node affinity/selector, 2 node(s) didn't find available persistent volumes to bind",
  );
});

test('a pod that comes back goes to the zone of its volume', async () => {
  await using world = await startWorld();
  await world.claim('data', '1Gi', standard);
  await world.pod('web', ['data'], { spec: { nodeSelector: { [labels.hostname]: 'b1' } } });
  await world.settle();
  await world.deletePod('web');
  await world.settle(3_000);
  await world.pod('web', ['data']);
  await world.settle();
  expect(await world.place('web')).toBe('b1');
  await world.pod('rival', ['data'], { spec: { nodeSelector: { [labels.zone]: 'us-central1-a' } } });
  await world.settle();
  expect(await world.place('rival')).toContain("2 node(s) didn't match PersistentVolume's node affinity");
});
