import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { systemIds } from '../../../runtime/ids.ts';
import { DataFolder } from '../files/data-folder.ts';
import type { DataIdentity } from '../files/data-identity.ts';
import { hostFiles } from '../files/host-files.ts';
import { type ByteSource, TransferError } from './byte-source.ts';
import { fillPart } from './fill-part.ts';

const signal = new AbortController().signal;
const identity: DataIdentity = { name: 'i', uid: 'u' };
let folder: DataFolder;

beforeEach(async () => {
  const diskPath = await mkdtemp(join(tmpdir(), 'fill-part-'));
  onTestFinished(() => rm(diskPath, { recursive: true }));
  folder = new DataFolder(hostFiles(systemIds), { diskPath, kind: 'BackingImage', name: 'i' });
  await folder.identify(identity);
});

/** Sends the text from the requested offset, one letter at a time, and ends before the letter `!`. */
function source(text: string, validator = 'v1'): ByteSource & { readonly offsets: number[] } {
  const offsets: number[] = [];
  return {
    offsets,
    open: async (from) => {
      const startsAt = from.validator === validator ? from.offset : 0;
      offsets.push(startsAt);
      async function* chunks() {
        for (const letter of text.slice(startsAt)) {
          if (letter === '!') throw new TransferError('broke off', { isPermanent: false });
          yield Buffer.from(letter);
        }
      }
      return { startsAt, totalBytes: text.length, validator, chunks: chunks(), close: () => {} };
    },
  };
}

async function fill(from: ByteSource, bytes = 100, checkpointBytes?: number) {
  const state = await folder.inspect();
  const known = state.kind === 'known' ? state.identity : identity;
  const limit = { bytes, remedy: 'raise it' };
  return await fillPart(
    from,
    { folder, identity: known, limit, onProgress: () => {}, checkpointBytes },
    signal,
  );
}

test('what arrived before a break is not fetched again', async () => {
  await expect(fill(source('abc!'))).rejects.toThrow('broke off');
  const rest = source('abcdef');
  expect((await fill(rest)).bytes).toBe(6);
  expect(rest.offsets).toEqual([3]);
  expect(String(await readFile(folder.partPath))).toBe('abcdef');
});

test('another version of the data is fetched from the beginning', async () => {
  await expect(fill(source('abc!'))).rejects.toThrow('broke off');
  const other = source('uvw', 'v2');
  await fill(other);
  expect(other.offsets).toEqual([0]);
  expect(String(await readFile(folder.partPath))).toBe('uvw');
});

test('bytes that may not have reached the disk are fetched again', async () => {
  await expect(fill(source('abcd!'), 100, 2)).rejects.toThrow('broke off');
  // As after a crash of the machine: the file is longer than what was recorded, and has holes.
  const state = await folder.inspect();
  if (state.kind !== 'known') throw new Error('no folder');
  await folder.identify({ ...state.identity, receivedBytes: 2 });
  await writeFile(folder.partPath, 'ab\0\0\0');
  const rest = source('abcdef');
  await fill(rest);
  expect(rest.offsets).toEqual([2]);
  expect(String(await readFile(folder.partPath))).toBe('abcdef');
});

test('a part that became shorter is continued at its end', async () => {
  await expect(fill(source('abcd!'))).rejects.toThrow('broke off');
  await truncate(folder.partPath, 1);
  const rest = source('abcdef');
  await fill(rest);
  expect(rest.offsets).toEqual([1]);
});

test('a source that ends early is an error that passes', async () => {
  const short: ByteSource = {
    open: async () => ({
      startsAt: 0,
      totalBytes: 10,
      chunks: (async function* () {
        yield Buffer.from('abc');
      })(),
      close: () => {},
    }),
  };
  await expect(fill(short)).rejects.toMatchObject({
    isPermanent: false,
    message: expect.stringContaining('3 of 10'),
  });
});

test('nothing is written beyond the limit', async () => {
  const unlimited: ByteSource = {
    open: async () => ({
      startsAt: 0,
      totalBytes: undefined,
      chunks: (async function* () {
        for (;;) yield Buffer.from('abc');
      })(),
      close: () => {},
    }),
  };
  await expect(fill(unlimited, 10)).rejects.toMatchObject({ isPermanent: true });
  expect((await readFile(folder.partPath)).length).toBe(9);
  await expect(fill(source('a'.repeat(11)), 10)).rejects.toThrow(
    'the data has 11 bytes, and at most 10 may be used: raise it',
  );
});
