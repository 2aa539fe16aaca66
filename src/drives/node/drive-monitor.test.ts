import { existsSync } from 'node:fs';
import { mkdir, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Drive } from '../../kube/stowage/drive.ts';
import { unenforcedQuota } from '../host/project-quota.ts';
import { NodeFixture } from '../testing/node-fixture.ts';

const mib = 2 ** 20;

async function status(node: NodeFixture, name = 'n1-a'): Promise<NonNullable<Drive['status']>> {
  return (await node.fixture.get(name)).status ?? {};
}

async function untilState(node: NodeFixture, state: string, name = 'n1-a'): Promise<void> {
  await node.until(async () => (await status(node, name)).state === state);
}

function mountedOf({ conditions = [] }: NonNullable<Drive['status']>) {
  return conditions.find(({ type }) => type === 'Mounted');
}

test('at the start drives are mounted, and their status is written', async () => {
  const node = await NodeFixture.start();
  const { filesystemUUID = '' } = (await node.fixture.get('n1-a')).spec ?? {};
  expect(await status(node)).toMatchObject({
    observedGeneration: 1,
    capacityBytes: 1024 * mib,
    freeBytes: 1024 * mib,
    state: 'Ready',
    device: { path: '/dev/n1-a', make: 'Example SSD' },
    topology: { 'stowage.dev/node': 'n1' },
    conditions: [{ type: 'Mounted', status: 'True', reason: 'Mounted' }],
  });
  expect((await node.host.mounts()).mounts).toMatchObject([
    { path: join(node.drivesRoot, filesystemUUID), type: 'xfs' },
  ]);
});

test('a drive that is added later is mounted; one of another node is not', async () => {
  const node = await NodeFixture.start();
  await node.addDrive('n1-b', 512 * mib);
  await untilState(node, 'Ready', 'n1-b');
  await node.fixture.drive('n2-c', mib, { node: 'n2', status: { state: 'Ready' } });
  await node.fixture.clock.advance(120_000);
  expect((await status(node, 'n2-c')).conditions).toBeUndefined();
});

test('a drive at rest is not written', async () => {
  const node = await NodeFixture.start();
  const { metadata } = await node.fixture.get('n1-a');
  await node.fixture.clock.advance(300_000);
  expect((await node.fixture.get('n1-a')).metadata?.resourceVersion).toBe(metadata?.resourceVersion);
});

test('free bytes follow the ledger', async () => {
  const node = await NodeFixture.start();
  await node.addVolume('pvc-1', 100 * mib);
  await node.until(async () => (await status(node)).freeBytes === 924 * mib);
});

test('a lost drive keeps its volumes and its capacity, and comes back under another name', async () => {
  const node = await NodeFixture.start();
  await node.addVolume('pvc-1', 100 * mib);
  await node.stage('pvc-1');
  await writeFile(join(node.host.shownAt(node.path('stage-pvc-1')) ?? '', 'file'), 'kept');
  const { uuid } = node.host.devices.get('/dev/n1-a')!;
  node.host.disconnect('/dev/n1-a');
  await untilState(node, 'Lost');
  const lost = await status(node);
  expect(lost.capacityBytes).toBe(1024 * mib);
  expect(mountedOf(lost)).toMatchObject({ status: 'False', reason: 'DeviceLost' });
  expect(mountedOf(lost)?.message).toContain('Connect the drive again');
  expect((await node.fixture.get('n1-a')).spec?.volumes).toHaveLength(1);
  await node.releaseVolume('pvc-1');
  await node.fixture.clock.advance(120_000);
  expect((await node.fixture.get('n1-a')).spec?.volumes).toHaveLength(1);
  await node.unstage('pvc-1');

  await node.host.connect('/dev/renamed', uuid, 1024 * mib);
  await untilState(node, 'Ready');
  expect((await status(node)).device?.path).toBe('/dev/renamed');
  await node.until(async () => (await node.fixture.get('n1-a')).spec?.volumes?.length === 0);
});

test('a volume of a drive that came back is staged again over its dead mount', async () => {
  const node = await NodeFixture.start();
  await node.addVolume('pvc-1', 100 * mib);
  await node.stage('pvc-1');
  const { uuid } = node.host.devices.get('/dev/n1-a')!;
  node.host.disconnect('/dev/n1-a');
  await untilState(node, 'Lost');
  await expect(node.stage('pvc-1')).rejects.toMatchObject({ code: 'Unavailable' });
  const { number } = await node.host.connect('/dev/renamed', uuid, 1024 * mib);
  await untilState(node, 'Ready');
  await node.stage('pvc-1');
  expect((await node.host.mounts()).at(node.path('stage-pvc-1'))?.device).toBe(number);
});

test('two devices with one UUID are an error until one is gone', async () => {
  const node = await NodeFixture.start();
  const { uuid } = node.host.devices.get('/dev/n1-a')!;
  await node.host.connect('/dev/copy', uuid, 1024 * mib);
  await untilState(node, 'Error');
  expect(mountedOf(await status(node))).toMatchObject({ reason: 'MultipleDevices' });
  expect(mountedOf(await status(node))?.message).toContain('/dev/n1-a and /dev/copy');
  node.host.disconnect('/dev/copy');
  await untilState(node, 'Ready');
});

test('a device that fails is an error until it works again', async () => {
  const node = await NodeFixture.start();
  const device = node.host.devices.get('/dev/n1-a')!;
  device.isBroken = true;
  await untilState(node, 'Error');
  device.isBroken = false;
  await untilState(node, 'Ready');
});

test('a drive in repair is unmounted, stays so, and is mounted afterwards', async () => {
  const node = await NodeFixture.start();
  await node.addVolume('pvc-1', mib);
  await node.stage('pvc-1');
  await node.fixture.merge('n1-a', { status: { state: 'Repairing' } }, 'status');
  await node.until(async () => mountedOf(await status(node))?.reason === 'InUse');
  await node.unstage('pvc-1');
  await node.until(async () => mountedOf(await status(node))?.status === 'False');
  expect((await node.host.mounts()).mounts).toEqual([]);
  await expect(node.stage('pvc-1')).rejects.toMatchObject({ code: 'Unavailable' });
  await node.fixture.clock.advance(120_000);
  expect((await node.host.mounts()).mounts).toEqual([]);
  await node.fixture.merge('n1-a', { status: { state: null } }, 'status');
  await untilState(node, 'Ready');
});

test('a drive on removal is deleted with its last volume, and unmounted', async () => {
  const node = await NodeFixture.start();
  await node.addVolume('pvc-1', mib);
  await node.stage('pvc-1');
  await node.fixture.merge('n1-a', { status: { state: 'Removing' } }, 'status');
  await node.fixture.clock.advance(60_000);
  expect((await status(node)).state).toBe('Removing');
  await node.unstage('pvc-1');
  await node.releaseVolume('pvc-1');
  await node.until(async () => (await node.fixture.all()).length === 0);
  await node.until(async () => (await node.host.mounts()).mounts.length === 0);
});

test('a directory without an entry is named after a while, never removed, and forgotten when it is gone', async () => {
  const node = await NodeFixture.start();
  await node.addVolume('pvc-1', mib);
  await node.stage('pvc-1');
  const { filesystemUUID = '' } = (await node.fixture.get('n1-a')).spec ?? {};
  const stray = join(node.drivesRoot, filesystemUUID, 'volumes', 'pvc-stray');
  await mkdir(stray);
  const directories = async () =>
    (await status(node)).conditions?.find(({ type }) => type === 'DirectoriesMatch');
  await node.until(async () => (await directories())?.status === 'False');
  expect(await directories()).toMatchObject({
    reason: 'OrphanedDirectories',
    message: 'volume pvc-stray has a directory and no entry in the ledger',
  });
  expect((await status(node)).state).toBe('Ready');
  await rmdir(stray);
  await node.until(async () => (await directories())?.status === 'True');
  expect(mountedOf(await status(node))?.status).toBe('True');
});

test('a directory whose entry follows soon is not named', async () => {
  const node = await NodeFixture.start();
  const { filesystemUUID = '' } = (await node.fixture.get('n1-a')).spec ?? {};
  await mkdir(join(node.drivesRoot, filesystemUUID, 'volumes', 'pvc-1'));
  // The monitor looks again when the Drive changes: seen twice within a moment is still on its way.
  await node.fixture.merge('n1-a', { metadata: { labels: { rack: 'r1' } } });
  await node.fixture.clock.advance(5_000);
  await node.addVolume('pvc-1', mib);
  await node.fixture.clock.advance(120_000);
  expect((await status(node)).conditions).toMatchObject([{ type: 'Mounted' }]);
});

test('a drive whose object is deleted is unmounted', async () => {
  const node = await NodeFixture.start();
  await node.fixture.delete('n1-a');
  await node.until(async () => (await node.host.mounts()).mounts.length === 0);
});

test('a filesystem that was mounted without quota is mounted again, unless it is in use', async () => {
  const node = await NodeFixture.start();
  const { quota } = node.host;
  node.host.quota = unenforcedQuota;
  await node.reboot();
  await node.addVolume('pvc-1', mib);
  await node.stage('pvc-1');
  node.host.quota = quota;
  await node.restart();
  await untilState(node, 'Error');
  expect(mountedOf(await status(node))).toMatchObject({ reason: 'QuotaNotEnforced' });
  await node.unstage('pvc-1');
  await untilState(node, 'Ready');
  expect((await node.host.mounts()).mounts[0]?.filesystemOptions).toContain('prjquota');
});

test('a drive whose UUID is a path is an error', async () => {
  const node = await NodeFixture.start({});
  await node.fixture
    .drive('n1-x', mib, { spec: { filesystemUUID: '../../../../etc' } })
    .catch(() => undefined);
  const names = (await node.fixture.all()).map(({ metadata }) => metadata?.name);
  if (names.includes('n1-x')) await untilState(node, 'Error', 'n1-x');
  expect((await node.host.mounts()).mounts).toEqual([]);
});

test('the data of a drive that was forgotten stays when the drive comes back, and is named as without an entry', async () => {
  const node = await NodeFixture.start();
  await node.addVolume('pvc-1', 100 * mib);
  await node.stage('pvc-1');
  const { uuid } = node.host.devices.get('/dev/n1-a')!;
  const file = join(node.host.shownAt(node.path('stage-pvc-1')) ?? '', 'file');
  await writeFile(file, 'kept');
  node.host.disconnect('/dev/n1-a');
  await untilState(node, 'Lost');
  expect(mountedOf(await status(node))?.message).toContain('stowage drives forget n1-a');
  await node.releaseVolume('pvc-1');
  await node.unstage('pvc-1');
  // Writes as `stowage drives forget n1-a` does.
  await node.fixture.merge('n1-a', { metadata: { finalizers: [] }, spec: { volumes: [] } });
  await node.fixture.delete('n1-a');

  await node.addDrive('n1-a', 1024 * mib);
  expect(node.host.devices.get('/dev/n1-a')?.uuid).toBe(uuid);
  await untilState(node, 'Ready');
  await node.until(
    async () =>
      (await status(node)).conditions?.some(({ reason }) => reason === 'OrphanedDirectories') === true,
  );
  expect(existsSync(file)).toBe(true);
});

test('the call for a volume on a lost drive says how the drive is given up', async () => {
  const node = await NodeFixture.start();
  await node.addVolume('pvc-1', 100 * mib);
  node.host.disconnect('/dev/n1-a');
  await node.host.reboot();
  await expect(node.stage('pvc-1')).rejects.toThrow(
    'If it is dead, stowage drives forget n1-a lists what is lost',
  );
});
