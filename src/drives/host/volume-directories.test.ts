import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { UnsafePathError } from './safe-paths.ts';
import { VolumeDirectories } from './volume-directories.ts';

async function mountedDrive() {
  const folder = mkdtempSync(join(tmpdir(), 'volume-directories-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const mount = join(folder, 'mount');
  const outside = join(folder, 'outside');
  mkdirSync(mount);
  mkdirSync(outside);
  writeFileSync(join(outside, 'kept'), '');
  const directories = new VolumeDirectories();
  await directories.prepare(mount);
  return { mount, outside, directories };
}

test('a directory appears under its name when it is finished', async () => {
  const { mount, directories } = await mountedDrive();
  expect(await directories.isEmpty(mount)).toBe(true);
  const path = await directories.begin(mount, 'pvc-1');
  expect(path).toBe(join(mount, 'deleted/pvc-1'));
  expect(statSync(path).mode & 0o777).toBe(0o777);
  expect(await directories.find(mount, 'pvc-1')).toBeUndefined();
  await directories.finish(mount, 'pvc-1');
  expect(await directories.find(mount, 'pvc-1')).toBe(join(mount, 'volumes/pvc-1'));
  expect(await directories.isEmpty(mount)).toBe(false);
  expect(statSync(join(mount, 'volumes')).mode & 0o777).toBe(0o700);
});

test('what an earlier attempt left is removed first', async () => {
  const { mount, directories } = await mountedDrive();
  writeFileSync(join(await directories.begin(mount, 'pvc-1'), 'old'), '');
  await directories.begin(mount, 'pvc-1');
  expect(existsSync(join(await directories.finish(mount, 'pvc-1'), 'old'))).toBe(false);
});

test('deep trees, odd names and links are removed, and what links lead to stays', async () => {
  const { mount, outside, directories } = await mountedDrive();
  await directories.begin(mount, 'pvc-1');
  const path = await directories.finish(mount, 'pvc-1');
  // Deeper than a path can be long, and names that are not UTF-8.
  const script =
    'for i in $(seq 25); do mkdir "$0" && cd -P "$0" || exit 1; done; touch "$(printf "\\377\\n")"';
  execFileSync('sh', ['-c', script, 'd'.repeat(200)], { cwd: path });
  symlinkSync(outside, join(path, 'link'));
  symlinkSync(join(outside, 'kept'), join(path, 'file-link'));
  await directories.retire(mount, 'pvc-1');
  await directories.remove(mount, 'pvc-1');
  expect(await directories.isEmpty(mount)).toBe(true);
  expect(existsSync(join(outside, 'kept'))).toBe(true);
  await directories.remove(mount, 'pvc-1');
  expect(await directories.retire(mount, 'pvc-1')).toBeUndefined();
});

test('links in the place of folders and volumes are refused', async () => {
  const { mount, outside, directories } = await mountedDrive();
  symlinkSync(outside, join(mount, 'volumes/pvc-1'));
  symlinkSync(outside, join(mount, 'deleted/pvc-2'));
  await expect(directories.find(mount, 'pvc-1')).rejects.toThrow(UnsafePathError);
  await expect(directories.retire(mount, 'pvc-1')).rejects.toThrow(UnsafePathError);
  await expect(directories.begin(mount, 'pvc-2')).rejects.toThrow(UnsafePathError);
  await expect(directories.remove(mount, 'pvc-2')).rejects.toThrow(UnsafePathError);
  rmSync(join(mount, 'volumes'), { recursive: true });
  symlinkSync(outside, join(mount, 'volumes'));
  await expect(directories.prepare(mount)).rejects.toThrow(UnsafePathError);
  await expect(directories.find(mount, 'kept')).rejects.toThrow(UnsafePathError);
  expect(existsSync(join(outside, 'kept'))).toBe(true);
});

test('names that lead out of the folder are refused', async () => {
  const { mount, directories } = await mountedDrive();
  for (const name of ['', '.', '..', '../volumes', 'a/b', '/etc', 'a\0b', 'x'.repeat(256)])
    for (const call of ['find', 'begin', 'retire', 'remove'] as const)
      await expect(directories[call](mount, name)).rejects.toThrow(UnsafePathError);
});
