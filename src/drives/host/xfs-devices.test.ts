import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { xfsDevices } from './xfs-devices.ts';

const uuid = 'b7f6c1de-4a2e-4c6f-9d0b-5d8f3a1c2e77';

/** Folders like /sys and /dev. */
function machine() {
  const folder = mkdtempSync(join(tmpdir(), 'xfs-devices-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const folders = { sys: join(folder, 'sys'), dev: join(folder, 'dev') };
  mkdirSync(folders.dev);
  let minor = 0;
  const add = (
    name: string,
    content: Buffer | undefined,
    { size = '2048', holder = '', model = '' } = {},
  ) => {
    const device = join(folders.sys, 'class/block', name);
    mkdirSync(join(device, 'holders', holder), { recursive: true });
    mkdirSync(join(device, 'device'), { recursive: true });
    writeFileSync(join(device, 'size'), `${size}\n`);
    writeFileSync(join(device, 'uevent'), `MAJOR=8\nMINOR=${minor++}\nDEVNAME=${name}\nDEVTYPE=disk\n`);
    if (model !== '') writeFileSync(join(device, 'device/model'), `${model}  \n`);
    if (content !== undefined) writeFileSync(join(folders.dev, name), content);
  };
  return { folders, add };
}

function superblock(id: string): Buffer {
  const bytes = Buffer.alloc(512);
  bytes.write('XFSB', 0, 'latin1');
  Buffer.from(id.replaceAll('-', ''), 'hex').copy(bytes, 32);
  return bytes;
}

test('devices are found by their superblock', async () => {
  const { folders, add } = machine();
  add('sda', superblock(uuid), { model: 'Example SSD' });
  add('sdb', superblock('11111111-4a2e-4c6f-9d0b-5d8f3a1c2e77'));
  add('sdc', Buffer.alloc(512));
  add('sdd', Buffer.from('XFSB'));
  add('sde', undefined);
  expect((await xfsDevices(folders)).get(uuid)).toEqual([
    { path: join(folders.dev, 'sda'), number: '8:0', make: 'Example SSD' },
  ]);
});

test('a copy is found too; a device that another one uses and one without medium are not', async () => {
  const { folders, add } = machine();
  add('sda', superblock(uuid), { holder: 'dm-0' });
  add('dm-0', superblock(uuid));
  add('sdb', superblock(uuid));
  add('sr0', superblock(uuid), { size: '0' });
  const found = (await xfsDevices(folders)).get(uuid) ?? [];
  expect(found.map(({ path }) => path).sort()).toEqual([join(folders.dev, 'dm-0'), join(folders.dev, 'sdb')]);
});
