import { mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { systemIds } from '../../../runtime/ids.ts';
import { DataFolder, isDataName } from './data-folder.ts';
import { identityText, parseIdentity } from './data-identity.ts';
import { hostFiles } from './host-files.ts';
import { probeDisk } from './probe-disk.ts';

const files = hostFiles(systemIds);
const identity = { name: 'r', uid: 'u1', volume: 'v', size: 4096 };
let disk = '';

beforeEach(async () => {
  disk = await mkdtemp(join(tmpdir(), 'data-folder-'));
  onTestFinished(() => rm(disk, { recursive: true }));
});

function folder(name = 'r'): DataFolder {
  return new DataFolder(files, { diskPath: disk, kind: 'Replica', name });
}

test('data appears with its identity, grows, never shrinks, and goes', async () => {
  const one = folder();
  expect(await one.inspect()).toEqual({ kind: 'missing' });
  await one.identify(identity);
  await one.complete(4096);
  expect(await one.inspect()).toEqual({
    kind: 'known',
    identity,
    dataBytes: 4096,
    modifiedNs: expect.stringMatching(/^\d+$/),
    partBytes: 0,
    occupiedBytes: 0,
  });
  await one.grow(2 ** 40);
  expect((await stat(one.dataPath)).size).toBe(2 ** 40);
  await one.grow(10);
  expect((await stat(one.dataPath)).size).toBe(2 ** 40);
  expect(await one.remove('u1')).toEqual([]);
  expect(await readdir(join(disk, 'replicas'))).toEqual([]);
  expect(await one.remove('u1')).toEqual([]);
});

test('the data of another owner is not removed', async () => {
  const one = folder();
  await one.identify(identity);
  await one.complete(1);
  await one.remove('u2');
  expect(await one.inspect()).toMatchObject({ kind: 'known', dataBytes: 1 });
});

test('files of others stay, and are named', async () => {
  const one = folder();
  await one.identify(identity);
  await one.complete(1);
  await writeFile(join(one.path, 'notes.txt'), 'mine');
  expect(await one.remove('u1')).toEqual([join(one.path, 'notes.txt')]);
  expect(await readdir(one.path)).toEqual(['notes.txt']);
  expect(await one.inspect()).toMatchObject({ kind: 'foreign' });
});

test.each([
  ['no JSON', 'not json'],
  ['another form', '{"name": 1}'],
  ['a size that is none', '{"name":"r","uid":"u","size":-1}'],
  ['null', 'null'],
  ['a long text', 'x'.repeat(100_000)],
])('an identity with %s is not ours', async (_name, text) => {
  const one = folder();
  await mkdir(one.path, { recursive: true });
  await writeFile(join(one.path, 'replica.json'), text);
  expect(await one.inspect()).toMatchObject({ kind: 'foreign' });
  await one.remove('u');
  expect(await readdir(one.path)).toEqual(['replica.json']);
});

test('symbolic links are not followed', async () => {
  const outside = await mkdtemp(join(tmpdir(), 'outside-'));
  onTestFinished(() => rm(outside, { recursive: true }));
  await writeFile(join(outside, 'precious'), 'data');
  await mkdir(join(disk, 'replicas'));
  await symlink(outside, join(disk, 'replicas', 'r'));
  expect(await folder().inspect()).toMatchObject({ kind: 'foreign' });
  await expect(folder().identify(identity)).rejects.toThrow('is not a directory');
  const other = folder('other');
  await other.identify({ ...identity, name: 'other' });
  await symlink(join(outside, 'precious'), other.dataPath);
  expect(await other.inspect()).toMatchObject({ kind: 'foreign' });
  await expect(other.openData()).rejects.toThrow('ELOOP');
  await symlink(join(outside, 'precious'), other.partPath);
  await expect(other.resizePart(0)).rejects.toThrow('ELOOP');
  expect((await stat(join(outside, 'precious'))).size).toBe(4);
});

test.each(['', '.', '..', '../x', 'a/b', 'A', 'a b', 'a\0', '-a', 'a..b', 'a'.repeat(254), '/etc'])(
  'the name %j is refused',
  (name) => {
    expect(isDataName(name)).toBe(false);
    expect(() => folder(name)).toThrow("can't be the name of a folder");
  },
);

test.each(['a', 'pvc-0b6f-r0', 'ubuntu-24.04', 'a'.repeat(253)])('the name %s is accepted', (name) => {
  expect(isDataName(name)).toBe(true);
});

test('an identity survives being written and read', () => {
  const contents = { contentsSHA512: 'cd', contentsBytes: 4096, contentsModifiedNs: '1790000000123456789' };
  const whole = { ...identity, sha512: 'ab', validator: '"1"', receivedBytes: 7, ...contents };
  expect(parseIdentity(identityText(whole))).toEqual(whole);
});

test('the UUID of a disk is made once, also by two processes at once', async () => {
  const uuids = await Promise.all(
    Array.from({ length: 8 }, () =>
      probeDisk(files, { path: disk, knownUUID: undefined, newUUID: () => systemIds.uid() }),
    ),
  );
  const found = uuids.map((probe) => (probe.kind === 'found' ? probe.uuid : probe.message));
  expect(new Set(found).size).toBe(1);
  expect(await readdir(disk)).toEqual(['stowage-disk.json']);
});

test.each(['', '{}', '{"diskUUID": "../../x"}', '{"diskUUID": 5}'])(
  'a disk with the identity %j is not used',
  async (text) => {
    await writeFile(join(disk, 'stowage-disk.json'), text);
    const probe = await probeDisk(files, { path: disk, knownUUID: undefined, newUUID: () => 'x' });
    expect(probe).toMatchObject({ kind: 'problem', reason: 'UnreadableIdentity' });
  },
);
