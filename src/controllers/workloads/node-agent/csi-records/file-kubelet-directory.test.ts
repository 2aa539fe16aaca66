import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { FileKubeletDirectory } from './file-kubelet-directory.ts';
import type { PluginVolumeRecord } from './volume-record.ts';

function newDirectory(): FileKubeletDirectory {
  const root = mkdtempSync(join(tmpdir(), 'kubelet-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  return new FileKubeletDirectory(join(root, 'n1'));
}

const record: PluginVolumeRecord = {
  driver: 'd.example.com',
  volumeHandle: 'a/../b',
  specName: 'pv',
  isAttachable: true,
  staging: { path: '/s', isDone: true },
  pods: { uid: { namespace: 'default', name: 'web', path: '/p', isDone: false } },
};

test('records are read back after a restart', async () => {
  const directory = newDirectory();
  expect(await directory.load()).toEqual([]);
  await directory.save(record);
  const again = new FileKubeletDirectory(directory.paths.root);
  expect(await again.load()).toEqual([record]);
  await again.remove(record);
  expect(await again.load()).toEqual([]);
  expect(existsSync(again.paths.volumeFolder(record.driver, record.volumeHandle))).toBe(false);
});

test('files that are no records are ignored', async () => {
  const directory = newDirectory();
  await directory.save(record);
  const folder = join(directory.paths.driverFolders, 'volumeDevices');
  mkdirSync(join(folder, 'staging'), { recursive: true });
  writeFileSync(join(folder, 'a-file'), '');
  const broken = directory.paths.recordFile('d.example.com', 'broken');
  mkdirSync(dirname(broken));
  writeFileSync(broken, '{"driver":1}');
  expect(await directory.load()).toEqual([record]);
});

test('a mount point is removed with its empty parent', async () => {
  const directory = newDirectory();
  const path = directory.paths.podMount('uid', 'pv');
  await directory.makeDirectory(path);
  expect(statSync(path).mode & 0o777).toBe(0o750 & ~process.umask());
  await directory.removeMountPoint(path);
  expect(existsSync(dirname(path))).toBe(false);
  await directory.removeMountPoint(path);
});

test('the file of a device is removed', async () => {
  const directory = newDirectory();
  const path = directory.paths.blockPublish('uid', 'pv');
  await directory.makeDirectory(dirname(path));
  writeFileSync(path, '');
  await directory.removeMountPoint(path);
  expect(existsSync(path)).toBe(false);
});

test('a directory with files in it is kept: something may be mounted there', async () => {
  const directory = newDirectory();
  const path = directory.paths.podMount('uid', 'pv');
  await directory.makeDirectory(path);
  writeFileSync(join(path, 'data'), 'precious');
  await expect(directory.removeMountPoint(path)).rejects.toThrow('ENOTEMPTY');
  expect(existsSync(join(path, 'data'))).toBe(true);
});
