import { createHash } from 'node:crypto';
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemIds } from '../../../runtime/ids.ts';
import { ContentsHash, emptyContents } from './contents-hash.ts';
import { contentsOf } from './hash-data.ts';
import { type DataFile, hostFiles } from './host-files.ts';

const blockBytes = 65_536;
const { signal } = new AbortController();

function contents(...chunks: readonly Uint8Array[]): string {
  const hash = new ContentsHash();
  for (const chunk of chunks) hash.add(chunk);
  return hash.digest();
}

test('it is the SHA-512 of the offsets and bytes of all blocks that are not zero', () => {
  const data = Buffer.alloc(2 * blockBytes + 3);
  data.write('end', 2 * blockBytes);
  const offset = Buffer.alloc(8);
  offset.writeBigUInt64BE(BigInt(2 * blockBytes));
  const block = Buffer.concat([Buffer.from('end'), Buffer.alloc(blockBytes - 3)]);
  const expected = createHash('sha512').update(offset).update(block).digest('hex');
  expect(contents(data)).toBe(expected);
});

test('it depends neither on chunks nor on zeros at the end, and on everything else', () => {
  const data = Buffer.alloc(4 * blockBytes);
  data.write('first');
  data.write('second', 2 * blockBytes + 7);
  const whole = contents(data);
  expect(contents(data.subarray(0, blockBytes), data.subarray(blockBytes))).toBe(whole);
  expect(contents(data, Buffer.alloc(10 * blockBytes))).toBe(whole);
  expect(contents(data.subarray(0, 2 * blockBytes + 13))).toBe(whole);
  const moved = Buffer.alloc(4 * blockBytes);
  data.copy(moved, blockBytes, 0, 3 * blockBytes);
  expect(contents(moved)).not.toBe(whole);
  data[3 * blockBytes] = 1;
  expect(contents(data)).not.toBe(whole);
});

test('a file of two terabytes without data is not read', async () => {
  const unreadable = {
    read: () => {
      throw new Error('it was read');
    },
  } as unknown as DataFile;
  expect(await contentsOf(unreadable, { bytes: 2e12, occupiedBytes: 0 }, signal)).toBe(emptyContents);
  // A filesystem may keep a short file without blocks.
  await expect(contentsOf(unreadable, { bytes: 100, occupiedBytes: 0 }, signal)).rejects.toThrow('read');
});

test('whatever is written after a mark gives the file another stamp', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'contents-hash-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'data.img');
  await writeFile(path, 'data');
  await truncate(path, 3 * blockBytes);
  const file = await hostFiles(systemIds).openData(path, false);
  onTestFinished(() => file.close());
  const before = await contentsOf(file, await file.facts(), signal);
  for (let times = 0; times < 20; times += 1) {
    // The write follows immediately, within one step of the filesystem's clock.
    const mark = await file.mark();
    expect(await file.facts()).toMatchObject(mark);
    await file.write(Buffer.from([times]), 5);
    expect((await file.facts()).modifiedNs).not.toBe(mark.modifiedNs);
  }
  expect(await contentsOf(file, await file.facts(), signal)).not.toBe(before);
});
