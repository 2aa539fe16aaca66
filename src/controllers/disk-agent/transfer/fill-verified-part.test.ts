import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemIds } from '../../../runtime/ids.ts';
import { DataFolder } from '../files/data-folder.ts';
import { type HostFiles, hostFiles } from '../files/host-files.ts';
import type { ByteSource } from './byte-source.ts';
import { fillVerifiedPart } from './fill-verified-part.ts';

const identity = { name: 'r', uid: 'u' };
const limit = { bytes: 100, remedy: 'raise it' };
const text = 'the data of a replica';

async function folderOn(files: HostFiles): Promise<DataFolder> {
  const diskPath = await mkdtemp(join(tmpdir(), 'verified-part-'));
  onTestFinished(() => rm(diskPath, { recursive: true }));
  const folder = new DataFolder(files, { diskPath, kind: 'Replica', name: 'r' });
  await folder.identify(identity);
  return folder;
}

function source(sha512?: string): ByteSource {
  async function* chunks() {
    yield Buffer.from(text.slice(0, 5));
    yield Buffer.from(text.slice(5));
  }
  return {
    open: async () => ({ startsAt: 0, totalBytes: text.length, sha512, chunks: chunks(), close: () => {} }),
  };
}

/** A disk that keeps another byte than was written. */
function failingDisk(): HostFiles {
  const files = hostFiles(systemIds);
  return {
    ...files,
    openData: async (path, isNew) => {
      const file = await files.openData(path, isNew);
      const changed = (bytes: Uint8Array) => bytes.with(0, (bytes[0] ?? 0) ^ 1);
      return { ...file, write: async (bytes, at) => await file.write(changed(bytes), at) };
    },
  };
}

const fill = async (folder: DataFolder, from: ByteSource) =>
  await fillVerifiedPart(
    from,
    { folder, identity, limit, onProgress: () => {} },
    new AbortController().signal,
  );

test('data that the disk returns as it was sent is kept', async () => {
  const folder = await folderOn(hostFiles(systemIds));
  await fill(folder, source(createHash('sha512').update(text).digest('hex')));
  expect(String(await readFile(folder.partPath))).toBe(text);
});

test('data that the disk returns otherwise is discarded, and the folder is named', async () => {
  const folder = await folderOn(failingDisk());
  await expect(fill(folder, source())).rejects.toMatchObject({
    isPermanent: false,
    message: expect.stringMatching(
      /^the data in .*\/replicas\/r is not what was written: .*; check the disk$/,
    ),
  });
  expect(await folder.inspect()).toMatchObject({ partBytes: 0, dataBytes: undefined });
});

test('data that is not what its source recorded is discarded', async () => {
  const folder = await folderOn(hostFiles(systemIds));
  await expect(fill(folder, source('0'.repeat(128)))).rejects.toThrow('it may be damaged');
  expect(await folder.inspect()).toMatchObject({ partBytes: 0 });
});
