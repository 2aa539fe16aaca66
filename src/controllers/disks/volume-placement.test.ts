import { describe, expect, test } from 'vitest';
import type { ClusterCall } from '../../cluster/intercepted-cluster.ts';
import { replicas } from '../../kube/stowage/replica.ts';
import { storageNodes } from '../../kube/stowage/storage-node.ts';
import { diskVolumes } from '../../kube/stowage/volume.ts';
import { allControllers } from '../all-controllers.ts';
import { DisksFixture } from './testing/disks-fixture.ts';

describe('placing', () => {
  test('each replica of a volume gets its bytes on a node of its own', async () => {
    const fixture = await DisksFixture.start(100, 100, 100);
    await fixture.addVolume('v', { size: 10, numberOfReplicas: 3 });
    expect(await fixture.replicas()).toEqual(['v-r0 1 10 running', 'v-r1 2 10 running', 'v-r2 3 10 running']);
    expect(await fixture.granted()).toEqual({ 1: 10, 2: 10, 3: 10 });
    expect(await fixture.allocation('v')).toEqual([
      10,
      'True Scheduled: Every replica has been granted 10 bytes',
    ]);
  });

  const uncordon = (fixture: DisksFixture) => fixture.patchNode(2, { spec: { allowScheduling: true } });
  const waking: readonly [string, (fixture: DisksFixture) => Promise<void>, readonly string[]][] = [
    ['is new', (fixture) => fixture.addNode(3, 20), []],
    ['is freed', (fixture) => fixture.request(1, { other: null }), []],
    ['is enlarged', (fixture) => fixture.setLimit(1, 20), []],
    ['is uncordoned', uncordon, []],
    ['gets other tags', (fixture) => fixture.patchNode(2, { spec: { tags: ['fast'] } }), ['fast']],
  ];
  test.each(waking)('a disk that %s wakes a volume that waits', async (_, change, nodeSelector) => {
    const fixture = await DisksFixture.start(15, 20);
    await fixture.patchNode(2, { spec: { allowScheduling: false } });
    await fixture.request(1, { other: 10 });
    await fixture.addVolume('v', { size: 10, numberOfReplicas: 1, nodeSelector });
    if (nodeSelector.length > 0) await uncordon(fixture);
    expect((await fixture.allocation('v'))[1]).toMatch(/^False InsufficientStorage/);
    await change(fixture);
    expect(await fixture.places('v')).toEqual([expect.stringMatching(/^[123] 10 running$/)]);
  });

  test('a disk that does not answer is left after half a minute', async () => {
    const fixture = await DisksFixture.start(100, 50);
    const body = {
      status: { conditions: [{ type: 'Ready', status: 'False', reason: 'Down', message: 'down' }] },
    };
    await fixture.addVolume('v', { size: 10, numberOfReplicas: 1, nodeSelector: ['fast'] });
    const client = fixture.environment.cluster.resource(storageNodes);
    // The node has the tag, and stops answering before the verdict.
    await client.patch({ name: 'n1' }, { type: 'merge', body }, { subresource: 'status' });
    await client.patch({ name: 'n1' }, { type: 'merge', body: { spec: { tags: ['fast'] } } });
    await client.patch({ name: 'n2' }, { type: 'merge', body: { spec: { tags: ['fast'] } } });
    await fixture.settle(120_000);
    expect(await fixture.replicas()).toEqual(['v-r0 2 10 running']);
    expect(await fixture.granted()).toEqual({ 1: 0, 2: 10 });
  });
});

test('a replica that is moved while it is about to be started waits for the grant of its new disk', async () => {
  const fixture = await DisksFixture.start(100, 100);
  const client = fixture.environment.cluster.resource(replicas);
  let moves = 0;
  const move = async ({ verb, resource }: ClusterCall): Promise<void> => {
    if (verb !== 'get' || resource !== diskVolumes || moves > 0) return;
    moves += 1;
    // As another instance does, after the volume has been planned and before the replica is started. The cache shows it immediately.
    const { metadata } = (await fixture.schedule(2))!;
    const body = { spec: { nodeID: 'n2', diskID: metadata!.name } };
    await client.patch({ name: 'v-r0' }, { type: 'merge', body });
    await fixture.environment.clock.sleep(1_000, new AbortController().signal);
  };
  await fixture.restart({ before: move });
  await fixture.addVolume('v', { size: 10, numberOfReplicas: 1 });
  await fixture.settle(120_000);
  expect(moves).toBe(1);
  expect(await fixture.places('v')).toEqual(['2 10 running']);
});

describe('leaving', () => {
  test('eviction from a disk that its node does not report any more', async () => {
    const fixture = await DisksFixture.start(100, 50);
    await fixture.addVolume('v', { size: 10, numberOfReplicas: 1 });
    await fixture.reportDisk(1, null);
    expect(await fixture.replicas()).toEqual(['v-r0 1 10 running']);
    await fixture.patchNode(1, { spec: { evictionRequested: true } });
    expect((await fixture.replicas()).at(-1)).toBe('v-r1 2 10 running');
  });

  test('a deleted volume takes its replicas and their bytes along', async () => {
    const fixture = await DisksFixture.start(100, 100);
    fixture.environment.run(allControllers().filter(({ name }) => name === 'garbage-collector'));
    await fixture.addVolume('v', { size: 10, numberOfReplicas: 2 });
    await fixture.environment.cluster.resource(diskVolumes).delete({ name: 'v' });
    await fixture.settle(10_000);
    expect(await fixture.replicas()).toEqual([]);
    expect(await fixture.granted()).toEqual({ 1: 0, 2: 0 });
  });
});
