import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Drive } from '../../kube/stowage/drive.ts';
import { drives } from '../../kube/stowage/drive.ts';
import { NodeFixture } from '../testing/node-fixture.ts';

const mib = 2 ** 20;

/** A Drive that names the filesystem of `n1-a` in capital letters, and was created later. */
async function addSecond(
  node: NodeFixture,
  volumes: NonNullable<Drive['spec']>['volumes'] = [],
): Promise<void> {
  const { spec } = await node.fixture.get('n1-a');
  await node.fixture.clock.advance(2_000);
  await node.fixture.cluster.resource(drives).create({
    apiVersion: 'stowage.dev/v1alpha1',
    kind: 'Drive',
    metadata: { name: 'n1-0-second', finalizers: ['stowage.dev/drive-protection'] },
    spec: { nodeName: 'n1', filesystemUUID: spec?.filesystemUUID?.toUpperCase() ?? '', volumes },
  });
}

async function stateOf(node: NodeFixture, name: string): Promise<string | undefined> {
  return (await node.fixture.get(name)).status?.state;
}

async function stagedFile(node: NodeFixture, volume: string): Promise<string> {
  await node.stage(volume);
  const file = join(node.host.shownAt(node.path(`stage-${volume}`)) ?? '', 'file');
  await writeFile(file, 'data');
  return file;
}

test('a second Drive of a filesystem fails without a capacity, and the first goes on', async () => {
  const node = await NodeFixture.start();
  await addSecond(node);
  await node.until(async () => (await stateOf(node, 'n1-0-second')) === 'Error');
  const { status } = await node.fixture.get('n1-0-second');
  expect(status?.capacityBytes).toBeUndefined();
  expect(status?.conditions).toMatchObject([
    { type: 'Mounted', status: 'False', reason: 'DuplicateFilesystem' },
  ]);
  expect(status?.conditions?.[0]?.message).toContain('Drive n1-a, which is older');
  expect(await stateOf(node, 'n1-a')).toBe('Ready');
});

test('a Drive that was ready loses its capacity when its filesystem belongs to another one, and volumes in it can be used', async () => {
  const node = await NodeFixture.start();
  await addSecond(node, [{ name: 'pvc-2', sizeBytes: mib }]);
  await node.fixture.merge(
    'n1-0-second',
    { status: { state: 'Ready', capacityBytes: 1024 * mib, freeBytes: 1023 * mib } },
    'status',
  );
  await node.until(async () => (await stateOf(node, 'n1-0-second')) === 'Error');
  const { status } = await node.fixture.get('n1-0-second');
  expect([status?.capacityBytes, status?.freeBytes]).toEqual([undefined, undefined]);
  expect(existsSync(await stagedFile(node, 'pvc-2'))).toBe(true);
  await node.fixture.clock.advance(120_000);
  const matches = (await node.fixture.get('n1-a')).status?.conditions?.find(
    ({ type }) => type === 'DirectoriesMatch',
  );
  expect(matches).toBeUndefined();
});

test('an entry that is Releasing goes without the data, if another ledger of the filesystem has the volume', async () => {
  const node = await NodeFixture.start();
  await node.addVolume('pvc-1', mib);
  const file = await stagedFile(node, 'pvc-1');
  await node.unstage('pvc-1');
  await addSecond(node, [{ name: 'pvc-1', sizeBytes: mib, state: 'Releasing' }]);
  await node.until(async () => (await node.fixture.get('n1-0-second')).spec?.volumes?.length === 0);
  expect(existsSync(file)).toBe(true);
  expect((await node.fixture.get('n1-a')).spec?.volumes).toHaveLength(1);

  await node.releaseVolume('pvc-1');
  await node.until(() => !existsSync(file));
  await node.until(async () => (await node.fixture.get('n1-a')).spec?.volumes?.length === 0);
});

test('of two entries that are Releasing, the last takes the data along', async () => {
  const node = await NodeFixture.start();
  await node.addVolume('pvc-1', mib);
  const file = await stagedFile(node, 'pvc-1');
  await addSecond(node, [{ name: 'pvc-1', sizeBytes: mib }]);
  for (const drive of ['n1-a', 'n1-0-second']) await node.releaseVolume('pvc-1', drive);
  await node.unstage('pvc-1');
  for (const drive of ['n1-a', 'n1-0-second'])
    await node.until(async () => (await node.fixture.get(drive)).spec?.volumes?.length === 0);
  expect(existsSync(file)).toBe(false);
});

test('when the first Drive is removed, the second takes its place', async () => {
  const node = await NodeFixture.start();
  await addSecond(node);
  await node.until(async () => (await stateOf(node, 'n1-0-second')) === 'Error');
  await node.fixture.delete('n1-a');
  await node.until(async () => (await stateOf(node, 'n1-0-second')) === 'Ready');
  expect((await node.fixture.get('n1-0-second')).status?.capacityBytes).toBe(1024 * mib);
});

test('a volume that has entries on two drives waits while one of them is Repairing, because it is being moved', async () => {
  const node = await NodeFixture.start({ 'n1-a': 1024 * mib, 'n1-b': 1024 * mib });
  const volumes = [{ name: 'pvc-1', sizeBytes: mib }];
  await node.fixture.merge('n1-a', { status: { state: 'Repairing' } }, 'status');
  for (const name of ['n1-a', 'n1-b']) await node.fixture.merge(name, { spec: { volumes } });
  await node.fixture.merge('n1-b', { spec: { volumes: [...volumes, { name: 'pvc-2', sizeBytes: mib }] } });
  for (const drive of ['n1-a', 'n1-b'])
    await expect(node.stage('pvc-1', { volumeContext: { 'stowage.dev/drive': drive } })).rejects.toThrow(
      'is being moved from drive n1-a',
    );
  await node.stage('pvc-2');
  // The source has lost the entry.
  await node.fixture.merge('n1-a', { spec: { volumes: [] } });
  await node.until(() =>
    node.stage('pvc-1').then(
      () => true,
      () => false,
    ),
  );
});

test('volumes of a second Drive wait while the filesystem is being repaired', async () => {
  const node = await NodeFixture.start();
  await addSecond(node, [{ name: 'pvc-2', sizeBytes: mib }]);
  await node.fixture.merge('n1-a', { status: { state: 'Repairing' } }, 'status');
  await node.until(async () => (await node.host.mounts()).mounts.length === 0);
  await expect(node.stage('pvc-2')).rejects.toThrow('is being repaired');
  expect((await node.host.mounts()).mounts).toEqual([]);
});
