import { expect, onTestFinished, test } from 'vitest';
import type { Cluster } from '../../cluster/cluster.ts';
import { InterceptedCluster } from '../../cluster/intercepted-cluster.ts';
import { DisksFixture, diskUUID } from '../../controllers/disks/testing/disks-fixture.ts';
import { failure } from '../../kube/api-error.ts';
import { diskSchedules } from '../../kube/stowage/disk-schedule.ts';
import { forceRemovalKey, storageNodes } from '../../kube/stowage/storage-node.ts';
import { readDiskObjects } from '../../queries/disks/disk-objects.ts';
import type { EvictionLine, EvictionReport } from '../../queries/disks/disks-report.ts';
import { confirm } from '../output/confirm.ts';
import { targetNamed } from './disk-targets.ts';
import { editStorageNode } from './edit-storage-node.ts';
import { evictionFailure, waitUntilEmpty } from './evict.ts';
import { forceRemoval, lossText, removeFromNode } from './remove.ts';
import { type NodeOrDisk, setScheduling } from './scheduling-change.ts';

async function targetIn(cluster: Cluster, argument: string): Promise<NodeOrDisk> {
  return targetNamed(argument, await readDiskObjects(cluster), ['node', 'disk']) as NodeOrDisk;
}

async function diskIn(cluster: Cluster, argument: string): Promise<Extract<NodeOrDisk, { kind: 'disk' }>> {
  return (await targetIn(cluster, argument)) as Extract<NodeOrDisk, { kind: 'disk' }>;
}

async function specOf(fixture: DisksFixture, name: string) {
  return (await fixture.environment.cluster.resource(storageNodes).get({ name })).spec;
}

/** Waits while virtual time passes. */
async function waited(
  fixture: DisksFixture,
  target: NodeOrDisk,
  timeoutMs = 60_000,
): Promise<EvictionReport> {
  const { clock, cluster } = fixture.environment;
  const waiting = waitUntilEmpty(cluster, target, { clock, timeoutMs, onProgress: () => {} });
  let isDone = false;
  void waiting.finally(() => {
    isDone = true;
  });
  while (!isDone) await fixture.environment.settle(1_000);
  const remaining = await waiting;
  return {
    apiVersion: 'stowage.dev/disks/v1',
    kind: 'EvictionReport',
    target: 'disk/n1/d',
    evictionRequested: true,
    remaining,
  };
}

const evicting = { allowScheduling: false, evictionRequested: true };
const undone = { allowScheduling: true, evictionRequested: false };

test('a disk is evicted by one write; a second call changes nothing, and --undo takes it back', async () => {
  const fixture = await DisksFixture.start(100, 100);
  const { cluster } = fixture.environment;
  const target = await targetIn(cluster, 'n1/d');
  expect(await setScheduling(cluster, target, evicting)).toBe(true);
  expect(await specOf(fixture, 'n1')).toMatchObject({ allowScheduling: true, disks: { d: evicting } });
  expect(await setScheduling(cluster, target, evicting)).toBe(false);
  expect(await setScheduling(cluster, target, undone)).toBe(true);
  expect(await specOf(fixture, 'n1')).toMatchObject({ disks: { d: undone } });
  expect(await setScheduling(cluster, target, { allowScheduling: true })).toBe(false);
});

test('a change of a node overwrites nothing that another client wrote meanwhile', async () => {
  const fixture = await DisksFixture.start(100);
  const rival = new InterceptedCluster(fixture.environment.cluster);
  let isDone = false;
  rival.addHooks({
    before: async ({ verb }) => {
      if (isDone || verb !== 'patch') return;
      isDone = true;
      await editStorageNode(fixture.environment.cluster, 'n1', () => ({ spec: { tags: ['rack-1'] } }));
    },
  });
  await setScheduling(rival, await targetIn(rival, 'node/n1'), evicting);
  expect(await specOf(fixture, 'n1')).toMatchObject({ tags: ['rack-1'], ...evicting });
});

test('an eviction moves replicas to other nodes, and ends when the disk is empty', async () => {
  const fixture = await DisksFixture.start(100, 100, 100);
  await fixture.addVolume('v', { size: 40, numberOfReplicas: 2 });
  const { cluster } = fixture.environment;
  const [, disk] = (await fixture.replicas())[0]!.split(' ');
  const target = await targetIn(cluster, `n${disk}/d`);
  await setScheduling(cluster, target, evicting);
  expect((await waited(fixture, target)).remaining).toEqual([]);
  expect(await fixture.granted()).toMatchObject({ [disk!]: 0 });
});

test('what can not move is named with the disk that lacks the fewest bytes', async () => {
  const fixture = await DisksFixture.start(100, 30);
  await fixture.addVolume('v', { size: 40, numberOfReplicas: 1 });
  const { cluster } = fixture.environment;
  const target = await targetIn(cluster, 'node/n1');
  await setScheduling(cluster, target, evicting);
  const report = await waited(fixture, target, 600_000);
  expect(report.remaining.map(({ name, state }) => [name, state])).toEqual([['v-r0', 'Blocked']]);
  expect(evictionFailure(report, true)).toMatch(
    /^disk\/n1\/d: replica v-r0 can't move: replica v-r1: .*10 missing; add a disk or free bytes, or take it back with --undo$/,
  );
  await setScheduling(cluster, target, undone);
  await fixture.settle(60_000);
  expect((await fixture.replicas()).map((line) => line.split(' ')[1])).toEqual(['1']);
});

test('data moves only once the new replica has it; until then the wait says where it goes, and ends in time', async () => {
  const fixture = await DisksFixture.start(100, 100);
  await fixture.addVolume('v', { size: 40, numberOfReplicas: 1 });
  const [first] = await fixture.replicas();
  const [name, disk] = first!.split(' ') as [string, string];
  await fixture.setHealthy(name);
  const { cluster } = fixture.environment;
  const target = await targetIn(cluster, `n${disk}/d`);
  await setScheduling(cluster, target, evicting);
  const report = await waited(fixture, target, 20_000);
  const other = disk === '1' ? 'n2/d' : 'n1/d';
  expect(report.remaining).toEqual([
    expect.objectContaining({
      name,
      volume: 'v',
      state: 'Moving',
      message: `to v-r1 on ${other}: no agent runs on node ${other.split('/')[0]}: start the controller disk-agent there`,
    }),
  ]);
  expect(evictionFailure(report, true)).toContain(
    '1 of its replicas and copies had not left within --timeout',
  );
  expect(evictionFailure(report, false)).toBeUndefined();
  await fixture.setHealthy('v-r1');
  expect((await waited(fixture, target)).remaining).toEqual([]);
});

test('only an empty disk is removed, and a disk that is not empty is closed and keeps its place', async () => {
  const fixture = await DisksFixture.start(100);
  await fixture.addVolume('v', { size: 40, numberOfReplicas: 1 });
  const { cluster } = fixture.environment;
  const target = await diskIn(cluster, 'n1/d');
  await expect(removeFromNode(cluster, target, false)).rejects.toThrow(
    'disk n1/d is not empty: replica v-r0; move them with stowage disks evict disk/n1/d --wait',
  );
  expect(await specOf(fixture, 'n1')).toMatchObject({ disks: { d: { allowScheduling: false } } });
});

test('an empty disk is removed', async () => {
  const fixture = await DisksFixture.start(100);
  const { cluster } = fixture.environment;
  await removeFromNode(cluster, await diskIn(cluster, 'n1/d'), false);
  expect(await specOf(fixture, 'n1')).toMatchObject({ disks: {} });
  await removeFromNode(cluster, await diskIn(cluster, 'n1/d'), false);
  const target = await targetIn(cluster, 'n1/d');
  await expect(setScheduling(cluster, target, evicting)).rejects.toThrow(
    'disk d is not in spec.disks of StorageNode n1',
  );
});

test('a forced removal names the volumes that are lost, and marks the schedule', async () => {
  const fixture = await DisksFixture.start(100, 100);
  await fixture.addVolume('alone', { size: 10, numberOfReplicas: 1 });
  await fixture.addVolume('both', { size: 10, numberOfReplicas: 2 });
  for (const line of await fixture.replicas()) await fixture.setHealthy(line.split(' ')[0]!);
  const { cluster } = fixture.environment;
  const [alone] = (await fixture.replicas()).filter((line) => line.startsWith('alone'));
  const number = alone!.split(' ')[1]!;
  const target = await diskIn(cluster, `n${number}/d`);
  const text = lossText(target, await readDiskObjects(cluster));
  expect(text).toBe(
    `disk/n${number}/d is given up: 2 replicas and 0 copies of images are on it. No other healthy replica exists of these volumes, and their data is lost: alone. Continue?`,
  );
  await forceRemoval(cluster, target.disk);
  const schedule = await cluster.resource(diskSchedules).get({ name: diskUUID(Number(number)) });
  expect(schedule.metadata?.annotations).toEqual({ [forceRemovalKey]: 'true' });
  await forceRemoval(cluster, target.disk);
  await forceRemoval(cluster, { uuid: diskUUID(9) });
});

test('a forced removal counts no replica on another disk that does not answer', async () => {
  const fixture = await DisksFixture.start(100, 100);
  await fixture.addVolume('both', { size: 10, numberOfReplicas: 2 });
  for (const line of await fixture.replicas()) await fixture.setHealthy(line.split(' ')[0]!);
  const { cluster } = fixture.environment;
  await fixture.setReady(1, false);
  const target = await diskIn(cluster, 'n1/d');
  expect(lossText(target, await readDiskObjects(cluster))).toContain(
    'Every volume has another healthy replica, on a disk that answers.',
  );
  await fixture.setReady(2, false);
  expect(lossText(target, await readDiskObjects(cluster))).toContain(
    'No other healthy replica exists of these volumes, and their data is lost: both.',
  );
});

test('without a terminal, the error says what would be lost', async () => {
  const { isTTY } = process.stdin;
  process.stdin.isTTY = false;
  onTestFinished(() => {
    process.stdin.isTTY = isTTY;
  });
  await expect(confirm('The data of these volumes is lost: v. Continue?', undefined)).rejects.toThrow(
    'The data of these volumes is lost: v. Standard input is not a terminal, so nothing can be confirmed; add --yes',
  );
});

test('a node that does not exist is named', async () => {
  const fixture = await DisksFixture.start(100);
  await expect(editStorageNode(fixture.environment.cluster, 'x', () => ({}))).rejects.toThrow(
    'there is no StorageNode x; stowage disks list',
  );
});

test('several that can not move are counted', () => {
  const line: EvictionLine = {
    kind: 'image',
    name: 'ubuntu',
    node: 'n1',
    disk: 'd',
    sizeBytes: 1,
    state: 'Blocked',
    message: 'no disk fits',
  };
  const report = {
    apiVersion: 'stowage.dev/disks/v1',
    kind: 'EvictionReport',
    target: 'node/n1',
    evictionRequested: true,
    remaining: [line, { ...line, name: 'other' }],
  } as const;
  expect(evictionFailure(report, false)).toBe(
    "node/n1: image ubuntu can't move: no disk fits (and 1 more); add a disk or free bytes, or take it back with --undo",
  );
});

test('what may not be listed is noted, and is not called missing', async () => {
  const fixture = await DisksFixture.start(100);
  const cluster = new InterceptedCluster(fixture.environment.cluster);
  cluster.addHooks({
    before: async ({ verb, resource }) => {
      if (verb === 'list' && !['storagenodes', 'diskschedules'].includes(resource.plural))
        throw failure(403, 'Forbidden', 'no');
    },
  });
  const { nodes, schedules, volumes, notes } = await readDiskObjects(cluster);
  expect([nodes.length, schedules.length, volumes]).toEqual([1, 1, undefined]);
  expect(notes.map(({ text }) => text)).toEqual([
    'could not read disksettings (forbidden): limits may be those of another policy',
    'could not read volumes.stowage.dev (forbidden): nothing is known about volumes',
    'could not read replicas (forbidden): the volumes of replicas are not known',
    'could not read backingimages (forbidden): nothing is known about images',
    'could not read persistentvolumes (forbidden): the claims of volumes are not known',
  ]);
});
