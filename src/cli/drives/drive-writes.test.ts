import { expect, test } from 'vitest';
import { InterceptedCluster } from '../../cluster/intercepted-cluster.ts';
import { failNext } from '../../cluster/testing/fault-hooks.ts';
import { readNamedBlockDevice } from '../../drives/devices/block-device.ts';
import { repairDrive } from '../../drives/devices/repair-drive.ts';
import { SystemCommandError } from '../../drives/devices/system-commands.ts';
import { DeviceTree } from '../../drives/devices/testing/device-tree.ts';
import { DrivesFixture } from '../../drives/testing/drives-fixture.ts';
import { failure } from '../../kube/api-error.ts';
import { driveProtectionFinalizer, drives } from '../../kube/stowage/drive.ts';
import { undefinedIfNotFound } from '../../kube/undefined-if-not-found.ts';
import { editDrive } from './edit-drive.ts';
import { accessTierOf, labelChangesIn, labelsIn } from './label-flags.ts';
import { driveNameIn } from './named-drives.ts';
import { removeDrive } from './remove.ts';
import { repairableDevice } from './repair.ts';

const gib = 2 ** 30;

/** A connection on which another client changes the drive before our first write. */
function withRival(fixture: DrivesFixture, name: string, body: object): InterceptedCluster {
  const cluster = new InterceptedCluster(fixture.cluster);
  let isDone = false;
  cluster.addHooks({
    before: async ({ verb }) => {
      if (isDone || (verb !== 'patch' && verb !== 'delete')) return;
      isDone = true;
      await fixture.merge(name, body);
    },
  });
  return cluster;
}

test('a change is decided again on what another client wrote, and overwrites none of it', async () => {
  const fixture = await DrivesFixture.start();
  await fixture.drive('d', gib);
  const cluster = withRival(fixture, 'd', { metadata: { labels: { rack: 'r1' } } });
  const { isChanged } = await editDrive(cluster, 'd', ({ spec }) =>
    spec?.unschedulable === true ? undefined : { spec: { unschedulable: true } },
  );
  expect(isChanged).toBe(true);
  expect(await fixture.get('d')).toMatchObject({
    metadata: { labels: { rack: 'r1' } },
    spec: { unschedulable: true },
  });
  expect((await editDrive(fixture.cluster, 'd', () => undefined)).isChanged).toBe(false);
});

test('a drive that does not exist is named, with those that do', async () => {
  const fixture = await DrivesFixture.start();
  await expect(editDrive(fixture.cluster, 'x', () => ({}))).rejects.toThrow(
    'there is no drive x; there are no drives',
  );
  await fixture.drive('n1-a', gib);
  await expect(editDrive(fixture.cluster, 'x', () => ({}))).rejects.toThrow('the drives are n1-a');
  expect(driveNameIn('drive.stowage.dev/n1-a')).toBe('n1-a');
});

test('only an empty drive is removed; otherwise its volumes are listed and nothing is written', async () => {
  const fixture = await DrivesFixture.start();
  const claimRef = { namespace: 'shop', name: 'data' };
  await fixture.drive('d', gib, {
    spec: {
      volumes: [
        { name: 'pvc-1', sizeBytes: 10, claimRef },
        { name: 'pvc-2', sizeBytes: 10, state: 'Releasing' },
      ],
    },
  });
  const before = await fixture.get('d');
  await expect(removeDrive(fixture.cluster, 'd')).rejects.toThrow(
    'drive d has volumes: pvc-1 of claim shop/data, pvc-2 (its data is being deleted); cordon the drive, and delete their claims first',
  );
  expect(await fixture.get('d')).toEqual(before);
});

test('a volume that arrives while the drive is being removed is kept', async () => {
  const fixture = await DrivesFixture.start();
  await fixture.drive('d', gib);
  await fixture.merge('d', {
    metadata: { finalizers: [driveProtectionFinalizer] },
    spec: { unschedulable: true },
  });
  // The first write removes the finalizer; then a volume arrives, and the deletion must fail.
  const cluster = new InterceptedCluster(fixture.cluster);
  cluster.addHooks({
    before: async ({ verb }) => {
      if (verb === 'delete')
        await fixture.merge('d', { spec: { volumes: [{ name: 'pvc-1', sizeBytes: 10 }] } });
    },
  });
  await expect(removeDrive(cluster, 'd')).rejects.toThrow('drive d has volumes: pvc-1');
  expect(await fixture.get('d')).toMatchObject({ spec: { volumes: [{ name: 'pvc-1' }] } });
  await fixture.merge('d', { spec: { volumes: [] } });
  await removeDrive(fixture.cluster, 'd');
  expect(await undefinedIfNotFound(fixture.cluster.resource(drives).get({ name: 'd' }))).toBeUndefined();
});

test.each([
  [['a=b', 'c-'], { a: 'b', c: null }],
  [['example.com/a='], { 'example.com/a': '' }],
])('labels %j', (texts, expected) => expect(labelChangesIn(texts)).toEqual(expected));

test.each([
  [['a'], 'must be KEY=VALUE, or KEY- to remove it'],
  [['a=b', 'a-'], 'label a: is given twice'],
  [['-=b'], 'the key must be a name'],
  [['a=b c'], 'the value may have up to 63'],
  [['stowage.dev/x=y'], 'labels of stowage.dev are reserved'],
  [['topology.kubernetes.io/zone-'], 'labels of topology.kubernetes.io are reserved'],
])('labels %j are refused', (texts, message) => expect(() => labelChangesIn(texts)).toThrow(message));

test('tiers are accepted in any case, and new drives have no labels to remove', () => {
  expect(accessTierOf('hot')).toBe('Hot');
  expect(() => accessTierOf('fast', '--tier')).toThrow(
    '--tier: "fast" must be one of Default, Hot, Warm, Cold',
  );
  expect(() => labelsIn(['a-'])).toThrow('must be KEY=VALUE');
});

/** A drive on a device of this machine, in state Error. */
async function brokenDrive() {
  const fixture = await DrivesFixture.start();
  const uuid = '22222222-0000-4000-8000-000000000001';
  const drive = await fixture.drive('d', gib, { spec: { filesystemUUID: uuid }, status: { state: 'Error' } });
  const tree = await DeviceTree.create({ sdb: { majorMinor: '8:16', filesystem: { type: 'xfs', uuid } } });
  const device = (await readNamedBlockDevice('sdb', tree.sources))!;
  const options = {
    cluster: fixture.cluster,
    commands: tree,
    requireUnused: async () => {},
    untilUnmounted: async () => true,
    discardsLog: false,
  };
  return { fixture, drive, tree, device, options };
}

test('a drive is Repairing while xfs_repair runs; then its node reports the state', async () => {
  const { fixture, drive, tree, device, options } = await brokenDrive();
  let during: string | undefined;
  tree.intercept = (program) => {
    if (program !== 'xfs_repair') return undefined;
    return fixture.get('d').then(({ status }) => {
      during = status?.state;
      return { status: 0, stdout: '', stderr: '' };
    });
  };
  expect(await repairDrive(drive, device, options)).toEqual({ kind: 'repaired' });
  expect(during).toBe('Repairing');
  expect((await fixture.get('d')).status).toEqual({ ...drive.status, state: undefined });
});

test.each([
  [2, { kind: 'dirty-log' }],
  [1, { kind: 'failed', text: 'xfs_repair failed with status 1: bad' }],
])('a repair that ends with status %d leaves the drive in Error', async (status, outcome) => {
  const { fixture, drive, tree, device, options } = await brokenDrive();
  tree.intercept = (program) =>
    program === 'xfs_repair' ? Promise.resolve({ status, stdout: '', stderr: 'bad' }) : undefined;
  const conflict = failNext('patch', failure(409, 'Conflict', 'changed'));
  const cluster = new InterceptedCluster(fixture.cluster, conflict);
  expect(await repairDrive(drive, device, { ...options, cluster })).toEqual(outcome);
  expect((await fixture.get('d')).status?.state).toBe('Error');
});

test('a drive in use is not repaired, and keeps its state', async () => {
  const { fixture, drive, tree, device, options } = await brokenDrive();
  const requireUnused = () => Promise.reject(new SystemCommandError('/dev/sdb is in use'));
  await expect(repairDrive(drive, device, { ...options, requireUnused })).rejects.toThrow('is in use');
  expect((await fixture.get('d')).status).toEqual(drive.status);
  const untilUnmounted = async () => false;
  expect(await repairDrive(await fixture.get('d'), device, { ...options, untilUnmounted })).toEqual({
    kind: 'mounted',
  });
  expect((await fixture.get('d')).status).toEqual(drive.status);
  expect(tree.calls.some((call) => call.startsWith('xfs_repair'))).toBe(false);
});

test('the device of a drive is found by its filesystem, and must not be in use', async () => {
  const { drive, device } = await brokenDrive();
  const mount = { majorMinor: '8:16', root: '/', mountPoint: '/drives/u', source: '/dev/sdb' };
  const volume = { ...mount, root: '/volumes/pvc-1', mountPoint: '/pods/p' };
  expect(repairableDevice(drive, [device])).toBe(device);
  expect(() => repairableDevice(drive, [])).toThrow('no device of this machine has the filesystem 22222222');
  expect(() => repairableDevice(drive, [device, device])).toThrow('several devices have its filesystem');
  const mounted = { ...device, mounts: [mount] };
  expect(() => repairableDevice(drive, [mounted])).toThrow(
    'no node service has reported that; unmount it with umount /drives/u',
  );
  const served = {
    ...drive,
    status: { ...drive.status, conditions: [{ type: 'Mounted', status: 'True' as const }] },
  };
  expect(repairableDevice(served, [mounted])).toBe(mounted);
  expect(() => repairableDevice(served, [{ ...device, mounts: [mount, volume] }])).toThrow(
    /are in use at \/pods\/p; run stowage drives cordon d, end the pods/,
  );
});
