import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  decodeCodeCache,
  encodeCodeCache,
  readCodeCache,
  removeOldCodeCaches,
  writeCodeCache,
} from './code-cache-file.ts';

const code = new Map([
  ['program-1.cjs', Buffer.from('seventeen letters')],
  ['empty-2.cjs', Buffer.alloc(0)],
  ['large-3.cjs', Buffer.alloc(1_000, 7)],
]);
const dayMs = 24 * 3_600_000;

test('a file has the code of all scripts, each where V8 need not copy it', () => {
  const decoded = decodeCodeCache(encodeCodeCache(code)) ?? new Map();
  expect([...decoded]).toEqual([...code]);
  const offsets = [...decoded.values()].map(({ byteOffset }) => byteOffset);
  expect(new Set(offsets.map((offset) => (offset - offsets[0]!) % 8))).toEqual(new Set([0]));
});

test('a file of which any byte is wrong or which is too short is not used', () => {
  const file = encodeCodeCache(code);
  for (let at = 0; at < file.length; at += 1) {
    const damaged = Buffer.from(file);
    damaged[at]! ^= 0x10;
    expect(decodeCodeCache(damaged), `byte ${at}`).toBeUndefined();
    expect(decodeCodeCache(file.subarray(0, at)), `${at} bytes`).toBeUndefined();
  }
});

test('a written file is read; it replaces the one before, and leaves no temporary file', () => {
  const folder = temporaryFolder();
  const path = join(folder, 'v1', 'explain.bin');
  writeCodeCache(path, new Map());
  writeCodeCache(path, code);
  expect([...readCodeCache(path)]).toEqual([...code]);
  expect(readdirSync(join(folder, 'v1'))).toEqual(['explain.bin']);
});

test('a file that another user may write is not used', () => {
  const path = join(temporaryFolder(), 'explain.bin');
  writeCodeCache(path, code);
  chmodSync(path, 0o620);
  expect(readCodeCache(path).size).toBe(0);
});

test('a folder, a missing file and one with other contents count as empty', () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'text'), 'no code', { mode: 0o600 });
  for (const name of ['', 'missing', 'text']) expect(readCodeCache(join(folder, name)).size).toBe(0);
});

test('if the file cannot be replaced, no temporary file stays', () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'explain.bin'));
  expect(() => writeCodeCache(join(folder, 'explain.bin'), code)).toThrow();
  expect(readdirSync(folder)).toEqual(['explain.bin']);
});

test('files of a month ago are removed, and folders that become empty', () => {
  const folder = temporaryFolder();
  const now = Date.now();
  for (const [path, days] of [
    ['v1/explain.bin', 31],
    ['v2/explain.bin', 31],
    ['v2/up.bin', 29],
  ] as const) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), '');
    utimesSync(join(folder, path), new Date(now), new Date(now - days * dayMs));
  }
  removeOldCodeCaches(folder, now);
  expect(readdirSync(folder, { recursive: true })).toEqual(['v2', 'v2/up.bin']);
  expect(readFileSync(join(folder, 'v2/up.bin'), 'utf8')).toBe('');
});

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'stowage-code-cache-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
