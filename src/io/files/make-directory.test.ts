import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeDirectory } from './make-directory.ts';

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'stowage-folder-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('creates missing directories with the given mode', () => {
  const folder = temporaryFolder();
  expect(makeDirectory(join(folder, 'a', 'b'), 0o700)).toBe(true);
  expect(statSync(join(folder, 'a')).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, 'a', 'b')).mode & 0o777).toBe(0o700);
  expect(makeDirectory(join(folder, 'a', 'b'), 0o700)).toBe(false);
});

test('fails if nothing can be created', () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'file'), '');
  expect(() => makeDirectory(join(folder, 'file', 'a'))).toThrow('ENOTDIR');
  expect(() => makeDirectory(join(folder, 'file'))).toThrow('EEXIST');
  expect(() => makeDirectory('/proc/stowage/a')).toThrow('ENOENT');
});
