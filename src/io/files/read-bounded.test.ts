import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { FileTooLarge, readBounded } from './read-bounded.ts';

test('a file is read as a whole, up to the limit', () => {
  const folder = mkdtempSync(join(tmpdir(), 'stowage-bounded-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'file');
  const text = 'ä'.repeat(1_500_000);
  writeFileSync(path, text);
  expect(readBounded(path, 3_000_000)).toBe(text);
  expect(() => readBounded(path, 2_999_999)).toThrow(FileTooLarge);
  expect(() => readBounded(join(folder, 'missing'), 1)).toThrow('ENOENT');
});

test.skipIf(process.platform === 'win32')('a device that never ends is not read forever', () => {
  expect(() => readBounded('/dev/zero', 3 * 2 ** 20)).toThrow(FileTooLarge);
  expect(readBounded('/dev/null', 1)).toBe('');
});
