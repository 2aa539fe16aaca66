import { expect, test } from 'vitest';
import { readBlockDevices, readNamedBlockDevice } from './block-device.ts';
import { deviceId } from './device-id.ts';
import { isForceable, obstacleOf } from './device-obstacle.ts';
import { readDeviceSignature } from './device-signature.ts';
import { DeviceTree, type FakeDevice } from './testing/device-tree.ts';

/** One device of each kind. */
const everyKind: Readonly<Record<string, FakeDevice>> = {
  empty: {
    majorMinor: '8:16',
    files: { 'device/vendor': 'ATA\n', 'device/model': 'Disk 9\n', wwid: 'naa.1' },
  },
  ext: { majorMinor: '8:32', filesystem: { type: 'ext4' } },
  raw: { majorMinor: '8:33', bytes: 'a database without a signature' },
  small: { majorMinor: '8:48', sizeBytes: 511 * 2 ** 20 },
  locked: { majorMinor: '8:64', files: { ro: '1' } },
  parted: {
    majorMinor: '8:80',
    files: { 'parted1/partition': '1', 'parted1/dev': '8:81' },
    partitionTable: 'gpt',
  },
  table: { majorMinor: '8:96', partitionTable: 'dos' },
  member: { majorMinor: '8:112', files: { 'holders/dm-0': '' }, filesystem: { type: 'LVM2_member' } },
  busy: { majorMinor: '8:128', mountPoint: '/mnt/with space', filesystem: { type: 'ext4' } },
  swap: { majorMinor: '8:144', filesystem: { type: 'swap' } },
  sr0: { majorMinor: '11:0' },
  hidden: { majorMinor: '8:160', files: { hidden: '1' } },
  ours: { majorMinor: '8:176', filesystem: { type: 'xfs', uuid: 'u', label: 'stowage' } },
  inUse: {
    majorMinor: '8:192',
    mountPoint: '/var/lib/stowage/drives/v',
    filesystem: { type: 'xfs', uuid: 'v', label: 'stowage' },
  },
  ram0: { majorMinor: '1:0' },
  none: { majorMinor: '8:208', sizeBytes: 0 },
};

test('every device has the reason why it cannot become a drive, and only erasable ones can be forced', async () => {
  const tree = await DeviceTree.create(everyKind);
  await tree.swapOn('swap');
  const devices = await readBlockDevices(tree.sources);
  const found = devices.map((device) => {
    const obstacle = obstacleOf(device);
    return [device.name, obstacle?.text, obstacle && isForceable(obstacle)];
  });
  expect(found).toEqual([
    ['busy', 'is mounted at /mnt/with space', false],
    ['empty', undefined, undefined],
    ['ext', 'carries data of ext4', true],
    ['hidden', 'is hidden by the kernel', false],
    ['inUse', 'is used by Stowage: it is mounted at /var/lib/stowage/drives/v', false],
    ['locked', 'is read-only', false],
    ['member', 'is held by dm-0', false],
    ['ours', 'is used by Stowage', true],
    ['parted', 'has the partitions parted1', true],
    ['raw', 'carries data of an unknown kind', true],
    ['small', 'is too small: it has less than 512 MiB', false],
    ['sr0', 'is a CD-ROM', false],
    ['swap', 'is used as swap', false],
    ['table', 'has a partition table (dos)', true],
  ]);
  expect(devices.find(({ name }) => name === 'empty')).toMatchObject({
    make: 'ATA Disk 9',
    serial: 'naa.1',
    sizeBytes: 2 ** 30,
    majorMinor: '8:16',
  });
});

test('a disk is mounted if one of its partitions is', async () => {
  const tree = await DeviceTree.create({
    sda: { majorMinor: '8:0', files: { 'sda1/partition': '1', 'sda1/dev': '8:1', 'sda1/holders/md0': '' } },
    sda1: { majorMinor: '8:1', files: { partition: '1' }, mountPoint: '/boot' },
  });
  const disk = (await readNamedBlockDevice('sda', tree.sources))!;
  expect(obstacleOf(disk)).toEqual({ kind: 'Mounted', text: 'is mounted at /boot' });
  expect(disk.holders).toEqual(['md0']);
});

test('the id of a device changes with the device, and only then', async () => {
  const tree = await DeviceTree.create({ sdb: { majorMinor: '8:16' } });
  const idNow = async () => deviceId((await readNamedBlockDevice('sdb', tree.sources))!);
  const before = await idNow();
  expect(await idNow()).toBe(before);
  const changes: readonly FakeDevice[] = [
    { majorMinor: '8:16', sizeBytes: 2 ** 31 },
    { majorMinor: '8:16', files: { wwid: 'naa.2' } },
    { majorMinor: '8:16', filesystem: { type: 'ext4', uuid: 'e' } },
    { majorMinor: '8:16', mountPoint: '/mnt' },
    { majorMinor: '8:32' },
  ];
  const ids = new Set([before]);
  for (const change of changes) {
    await tree.add('sdb', change);
    ids.add(await idNow());
  }
  expect(ids.size).toBe(changes.length + 1);
});

test.each([
  ['that cannot be read', { status: 2, stdout: '', stderr: 'blkid: error: /dev/x: No such device' }, 'error'],
  ['that blkid gives up on', { status: 4, stdout: '', stderr: 'usage' }, 'error'],
  ['with two signatures', { status: 8, stdout: '', stderr: '' }, 'type'],
])('a device %s is not empty', async (_, outcome, field) => {
  const signature = await readDeviceSignature('/dev/null', { run: async () => outcome });
  expect(signature[field as 'error' | 'type']).toBeTruthy();
});
