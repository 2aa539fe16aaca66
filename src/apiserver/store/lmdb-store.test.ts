import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { formatMetaKey, openLmdbDatabase } from './lmdb-database.ts';
import { openLmdbStore } from './lmdb-store.ts';
import { StoreError } from './store-error.ts';
import { StoreChild } from './testing/store-child.ts';
import { describeEntries, putText, removeKey, untilDurable } from './testing/store-driver.ts';

const root = mkdtempSync(join(tmpdir(), 'stowage-store-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function newDirectory(): string {
  return mkdtempSync(join(root, 'data-'));
}

async function refusalOf(directory: string): Promise<StoreError> {
  try {
    const store = await openLmdbStore(directory);
    await store.close();
  } catch (error) {
    if (error instanceof StoreError) return error;
    throw error;
  }
  return expect.fail('it was opened');
}

describe('a store that is opened again', () => {
  test('has all entries and no history', async () => {
    const directory = join(root, 'not/yet/there');
    const before = await openLmdbStore(directory);
    putText(before, 'ns/a', 'first');
    putText(before, 'ns/a', 'second');
    putText(before, 'ns/ü', 'ümlaut', 'nodes');
    putText(before, 'ns/gone', 'x');
    removeKey(before, 'ns/gone');
    putText(before, 'ns/empty', '');
    await before.close();
    const after = await openLmdbStore(directory);
    expect([after.revision, after.durableRevision, after.compactedRevision]).toEqual([
      before.revision,
      before.revision,
      before.revision,
    ]);
    expect(describeEntries(after.list('pods'))).toBe('ns/a=second ns/empty=');
    expect(describeEntries(after.list('nodes'))).toBe('ns/ü=ümlaut');
    expect(after.get('pods', 'ns/a')).toMatchObject({ createRevision: 2, revision: 3 });
    expect(after.listAt('pods', after.revision - 1)).toBeUndefined();
    await after.close();
  });

  test('continues with higher revisions, also if the newest write was a removal', async () => {
    const directory = newDirectory();
    const before = await openLmdbStore(directory);
    putText(before, 'a', '1');
    const { revision } = removeKey(before, 'a');
    await before.close();
    const after = await openLmdbStore(directory);
    expect(putText(after, 'a', '1').revision).toBe(revision + 1);
    await after.close();
  });

  test('has entries that were put, removed and put again in one transaction', async () => {
    const directory = newDirectory();
    const before = await openLmdbStore(directory);
    putText(before, 'b', '1');
    await untilDurable(before);
    putText(before, 'a', '1');
    removeKey(before, 'a');
    putText(before, 'a', '2');
    removeKey(before, 'b');
    await before.close();
    const after = await openLmdbStore(directory);
    expect(describeEntries(after.list('pods'))).toBe('a=2');
    await after.close();
  });

  test('is readable by its owner only', async () => {
    const directory = join(root, 'private');
    await (await openLmdbStore(directory)).close();
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    for (const file of ['store.mdb', 'store.mdb-lock', 'owner.mdb', 'owner.mdb-lock'])
      expect(statSync(join(directory, file)).mode & 0o077).toBe(0);
  });
});

describe('a data directory that is in use', () => {
  test('by this process is refused until it is closed', async () => {
    const directory = newDirectory();
    const store = await openLmdbStore(directory);
    const { code, message } = await refusalOf(join(directory, '../', directory.split('/').at(-1) ?? ''));
    expect([code, message]).toEqual([
      'InUse',
      `the data directory ${directory} is in use by process ${process.pid}; stop it or choose another with --data`,
    ]);
    putText(store, 'a', '1');
    await store.close();
    const again = await openLmdbStore(directory);
    expect(describeEntries(again.list('pods'))).toBe('a=1');
    await again.close();
  });

  test('by another process is refused until that process ends, even if it is killed', async () => {
    const directory = newDirectory();
    const child = new StoreChild(root, { what: 'storm', directory });
    await child.firstOutput();
    const { code, message } = await refusalOf(directory);
    expect([code, message]).toEqual([
      'InUse',
      `the data directory ${directory} is in use by process ${child.process.pid}; stop it or choose another with --data`,
    ]);
    await child.kill();
    await (await openLmdbStore(directory)).close();
  });

  test('is refused to other processes on every attempt', async () => {
    const directory = newDirectory();
    const store = await openLmdbStore(directory);
    for (const _ of [1, 2]) {
      const child = new StoreChild(root, { what: 'open', directory });
      await child.ended;
      expect(child.lines.join()).toContain(`is in use by process ${process.pid};`);
      expect(child.process.exitCode).toBe(1);
      putText(store, 'a', `${store.revision}`);
      await untilDurable(store);
    }
    await store.close();
  });

  test('is opened by at most one of several concurrent processes', async () => {
    const directory = newDirectory();
    const children = [1, 2, 3].map(() => new StoreChild(root, { what: 'hold', directory }));
    await Promise.all(children.map((child) => child.firstOutput()));
    const results = children.map(({ lines }) => lines[0]?.split(' ')[0]);
    await Promise.all(children.map((child) => child.kill()));
    expect(results.filter((result) => result === 'open').length).toBeLessThanOrEqual(1);
    await (await openLmdbStore(directory)).close();
  });
});

describe('a data directory is refused', () => {
  test('if a newer version wrote it, and is left unchanged', async () => {
    const directory = newDirectory();
    await (await openLmdbStore(directory)).close();
    const { root: environment, meta } = await openLmdbDatabase(directory, 1);
    await meta.put(formatMetaKey, Buffer.from('2'));
    await environment.close();
    const { mtimeMs } = statSync(join(directory, 'store.mdb'));
    const { code, message } = await refusalOf(directory);
    expect(code).toBe('NewerFormat');
    expect(message).toBe(
      `the data directory ${directory} was written by a newer version (format 2, supported is 1); ` +
        'use that version or choose another directory with --data',
    );
    expect(statSync(join(directory, 'store.mdb')).mtimeMs).toBe(mtimeMs);
    expect((await refusalOf(directory)).code).toBe('NewerFormat');
  });

  test('if it is a file', async () => {
    const path = join(newDirectory(), 'file');
    writeFileSync(path, '');
    expect(await refusalOf(path)).toMatchObject({
      code: 'Unusable',
      message: `the data directory ${path} cannot be used: it is not a directory; choose another with --data`,
    });
    expect((await refusalOf(join(path, 'below'))).message).toContain('part of its path is not a directory');
  });

  test.each([
    { what: 'something else', file: 'store.mdb', text: 'these are not objects\n'.repeat(10_000) },
    { what: 'something short', file: 'store.mdb', text: 'short' },
    { what: 'something else in the place of the lock', file: 'owner.mdb', text: 'x'.repeat(20_000) },
  ])('if it contains $what', async ({ file, text }) => {
    const directory = newDirectory();
    writeFileSync(join(directory, file), text);
    const { code, message } = await refusalOf(directory);
    expect([code, message]).toEqual([
      // A lock that cannot be read says nothing about the data.
      file === 'store.mdb' ? 'Damaged' : 'Unusable',
      `the data directory ${directory} cannot be used: ${join(directory, file)} is damaged or was made by another program; ` +
        'choose another with --data',
    ]);
    rmSync(join(directory, file));
    await (await openLmdbStore(directory)).close();
  });

  test('if its file is truncated', async () => {
    const directory = newDirectory();
    await (await openLmdbStore(directory)).close();
    truncateSync(join(directory, 'store.mdb'), 10_000);
    expect((await refusalOf(directory)).message).toContain('is damaged');
  });

  test('if the disk is full, without leftover files', async () => {
    const directory = newDirectory();
    const wrapper = ['sh', '-c', 'trap "" XFSZ; ulimit -f 16; exec "$@"', 'sh'];
    const child = new StoreChild(root, { what: 'open', directory, wrapper });
    await child.ended;
    expect(child.lines).toEqual([
      `error the data directory ${directory} cannot be used: the disk is full; choose another with --data`,
    ]);
    expect(readdirSync(directory)).toEqual([]);
  });

  test.runIf(process.getuid?.() === 0)('if the permission is missing', async () => {
    const directory = newDirectory();
    chmodSync(root, 0o755);
    const child = new StoreChild(root, { what: 'open-unprivileged', directory });
    await child.ended;
    expect(child.lines).toEqual([
      `error the data directory ${directory} cannot be used: no permission to read and write it; choose another with --data`,
    ]);
    expect(existsSync(join(directory, 'store.mdb'))).toBe(false);
  });
});

test('on a full disk writes fail with the reason, existing data stays, and objects can be removed', async () => {
  const directory = join(newDirectory(), 'data');
  mkdirSync(directory);
  // A file size limit simulates a full disk; LMDB sees a short write in either case.
  const wrapper = ['sh', '-c', 'trap "" XFSZ; ulimit -f 2000; exec "$@"', 'sh'];
  const child = new StoreChild(root, { what: 'fill', directory, wrapper });
  await child.ended;
  const acknowledged = child.lines.filter((line) => line.startsWith('acknowledged'));
  const newest = acknowledged.at(-1)?.split(' ')[1];
  expect(acknowledged.length).toBeGreaterThan(10);
  const rest = child.lines.slice(acknowledged.length + 1);
  expect(rest[0]).toMatch(/failed: files may not grow/);
  expect(rest[1]).toBe(`count ${acknowledged.length} ${newest}`);
  expect(child.process.exitCode).toBe(0);
  const store = await openLmdbStore(directory);
  // The reserve at the end of the file is kept for removals.
  expect(rest[2]).toMatch(/^removed/);
  expect(store.count('pods')).toBe(acknowledged.length - 1);
  putText(store, 'one more', '1');
  await store.close();
});
