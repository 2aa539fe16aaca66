import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { lockDirectory } from '../../apiserver/store/directory-lock.ts';
import { emptyDataDirectory, markDataDirectory } from './data-directory.ts';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'stowage-data-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

test('a directory that we made can be started over', async () => {
  const data = join(folder(), 'data');
  markDataDirectory(data);
  mkdirSync(join(data, 'store'));
  writeFileSync(join(data, 'store/objects'), 'x');
  expect(await emptyDataDirectory(data)).toBe(true);
  expect(readdirSync(data)).toEqual([]);
});

test('nothing to delete is nothing wrong', async () => {
  const empty = folder();
  expect(await emptyDataDirectory(empty)).toBe(false);
  expect(await emptyDataDirectory(join(empty, 'nowhere'))).toBe(false);
});

test('a directory that had something in it is not ours, and stays as it is', async () => {
  const data = folder();
  writeFileSync(join(data, 'thesis.txt'), 'years of work');
  markDataDirectory(data);
  await expect(emptyDataDirectory(data)).rejects.toThrow(
    `--fresh: ${data} is not deleted: it has no file stowage-data, so something else may be in it; delete it yourself, or choose another with --data`,
  );
  expect(readFileSync(join(data, 'thesis.txt'), 'utf8')).toBe('years of work');
});

test('links are removed, and what they lead to is not', async () => {
  const elsewhere = folder();
  writeFileSync(join(elsewhere, 'kept'), '');
  const data = join(folder(), 'data');
  markDataDirectory(data);
  symlinkSync(elsewhere, join(data, 'volumes'));
  await emptyDataDirectory(data);
  expect([readdirSync(data), readdirSync(elsewhere)]).toEqual([[], ['kept']]);
});

test('one that is in use is left alone', async () => {
  const data = join(folder(), 'data');
  markDataDirectory(data);
  mkdirSync(join(data, 'store'));
  const lock = await lockDirectory(join(data, 'store'));
  await expect(emptyDataDirectory(data)).rejects.toThrow(`is in use by process ${process.pid}`);
  expect(existsSync(join(data, 'store/owner.mdb'))).toBe(true);
  await lock.release();
});

test('a new directory is ignored by git', () => {
  const data = join(folder(), 'data');
  markDataDirectory(data);
  expect(readFileSync(join(data, '.gitignore'), 'utf8')).toBe('*\n');
});

test('a directory with files of others gets no .gitignore', () => {
  const data = folder();
  writeFileSync(join(data, 'thesis.txt'), '');
  markDataDirectory(data);
  expect(readdirSync(data)).toEqual(['thesis.txt']);
});
