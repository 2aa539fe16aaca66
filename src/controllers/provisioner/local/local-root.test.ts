import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, stat, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { someUid } from '../testing/objects.ts';
import { temporaryDirectory } from '../testing/temporary-directory.ts';
import { LocalRoot } from './local-root.ts';

const name = `pvc-${someUid}`;
/** On other systems an open directory can be reached only by its path. */
const onLinux = test.runIf(process.platform === 'linux');

/** A root, and beside it a directory that must not be changed. */
async function setting() {
  const { path, [Symbol.asyncDispose]: dispose } = await temporaryDirectory();
  const outside = join(path, 'outside');
  await mkdir(join(outside, name), { recursive: true });
  await writeFile(join(outside, 'precious'), 'data');
  await writeFile(join(outside, name, 'precious'), 'data');
  const rootPath = join(path, 'root');
  return {
    path,
    outside,
    rootPath,
    volume: join(rootPath, name),
    root: new LocalRoot(rootPath),
    async expectUntouched() {
      expect(await readFile(join(outside, 'precious'), 'utf8')).toBe('data');
      expect(await readFile(join(outside, name, 'precious'), 'utf8')).toBe('data');
      expect((await readdir(outside)).sort()).toEqual(['precious', name].sort());
    },
    [Symbol.asyncDispose]: dispose,
  };
}

test('a volume is a private directory, created once and removed with its content', async () => {
  await using here = await setting();
  expect(await here.root.create(someUid)).toBe(here.volume);
  expect((await stat(here.volume)).mode & 0o777).toBe(0o700);
  await mkdir(join(here.volume, 'a', 'b'), { recursive: true });
  await writeFile(join(here.volume, 'a', 'b', 'file'), 'text');
  expect(await here.root.create(someUid)).toBe(here.volume);
  expect(existsSync(join(here.volume, 'a', 'b', 'file'))).toBe(true);
  await here.root.remove(someUid);
  expect(await readdir(here.rootPath)).toEqual([]);
  await here.root.remove(someUid);
});

test('removing from a root that does not exist does nothing', async () => {
  await using here = await setting();
  await here.root.remove(someUid);
  expect(existsSync(here.rootPath)).toBe(false);
});

test.each([
  '..',
  '../outside',
  '',
  '.',
  `${someUid}/..`,
  `${someUid}\0`,
  `${someUid}\n`,
  someUid.toUpperCase().replace('B', 'G'),
])('the uid %j is refused', async (uid) => {
  await using here = await setting();
  await expect(here.root.create(uid)).rejects.toThrow('is not the uid of a claim');
  await expect(here.root.remove(uid)).rejects.toThrow('is not the uid of a claim');
  await here.expectUntouched();
});

describe('a symbolic link', () => {
  test('in place of a volume is not used, and only the link is removed', async () => {
    await using here = await setting();
    await mkdir(here.rootPath);
    await symlink(here.outside, here.volume);
    await expect(here.root.create(someUid)).rejects.toThrow('exists and is not a directory; remove it');
    await here.root.remove(someUid);
    expect(await readdir(here.rootPath)).toEqual([]);
    await here.expectUntouched();
  });

  test('inside a volume is removed and not followed', async () => {
    await using here = await setting();
    await here.root.create(someUid);
    await mkdir(join(here.volume, 'sub'));
    for (const at of ['link', 'sub/link', 'sub/dangling'])
      await symlink(at.endsWith('dangling') ? '/nowhere' : here.outside, join(here.volume, at));
    await symlink(join(here.outside, 'precious'), join(here.volume, 'file-link'));
    await symlink('..', join(here.volume, 'up'));
    await here.root.remove(someUid);
    expect(await readdir(here.rootPath)).toEqual([]);
    await here.expectUntouched();
  });

  test('in place of the root is refused', async () => {
    await using here = await setting();
    await symlink(here.outside, here.rootPath);
    await expect(here.root.create(someUid)).rejects.toThrow('use the directory itself');
    await expect(here.root.remove(someUid)).rejects.toThrow('use the directory itself');
    await here.expectUntouched();
  });

  test('that replaces the root later is refused', async () => {
    await using here = await setting();
    await here.root.create(someUid);
    await rename(here.rootPath, `${here.rootPath}.old`);
    await symlink(here.outside, here.rootPath);
    await expect(here.root.remove(someUid)).rejects.toThrow('use the directory itself');
    await here.expectUntouched();
  });

  test('that replaces a parent of the root later is refused', async () => {
    await using here = await setting();
    const root = new LocalRoot(join(here.path, 'way', 'outside'));
    await root.create(someUid);
    await rename(join(here.path, 'way'), join(here.path, 'old-way'));
    await symlink(here.path, join(here.path, 'way'));
    await expect(root.remove(someUid)).rejects.toThrow('now leads to');
    await expect(root.create(someUid)).rejects.toThrow('now leads to');
    await here.expectUntouched();
  });

  onLinux('that is repeatedly exchanged with a directory never leads outside', async () => {
    await using here = await setting();
    const [inner, bait] = [join(here.volume, 'inner'), join(here.rootPath, 'bait')];
    let isOver = false;
    // Both have a file of that name: code that uses the path removes the wrong one.
    const exchange = async () => {
      while (!isOver) {
        await mkdir(inner).catch(() => {});
        await writeFile(join(inner, 'precious'), 'bait', { flag: 'wx' }).catch(() => {});
        await rename(inner, bait).catch(() => {});
        await symlink(here.outside, inner).catch(() => {});
        await unlink(inner).catch(() => {});
        await rename(bait, inner).catch(() => {});
      }
    };
    await here.root.create(someUid);
    const attackers = [exchange(), exchange()];
    for (let round = 0; round < 300; round++) {
      await here.root.remove(someUid).catch(() => {});
      await here.root.create(someUid).catch(() => {});
    }
    isOver = true;
    await Promise.all(attackers);
    await here.expectUntouched();
  });
});

test('the root of the file system is not allowed', async () => {
  await expect(new LocalRoot('/').create(someUid)).rejects.toThrow('is the root of the file system');
});

onLinux('a tree deeper than file descriptors and paths allow is removed', async () => {
  await using here = await setting();
  await here.root.create(someUid);
  // Created from the bottom up, since no path reaches that deep: each step moves everything into a new directory.
  const step = join(here.rootPath, 'step');
  await mkdir(join(here.volume, 'd'));
  for (let depth = 0; depth < 3000; depth++) {
    await mkdir(step);
    await rename(join(here.volume, 'd'), join(step, 'd'));
    await rename(step, join(here.volume, 'd'));
  }
  await here.root.remove(someUid);
  expect(await readdir(here.rootPath)).toEqual([]);
});
