import { execFileSync } from 'node:child_process';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { writePrivateFile } from './private-files.ts';

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'stowage-private-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('a file is created and replaced, for its owner only', async () => {
  const path = join(temporaryFolder(), 'sub', 'file');
  await writePrivateFile(path, 'old');
  await writePrivateFile(path, 'new');
  expect(readFileSync(path, 'utf8')).toBe('new');
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('a link to a regular file is replaced, and the file behind it is not written', async () => {
  const folder = temporaryFolder();
  const [target, link] = [join(folder, 'target'), join(folder, 'link')];
  writeFileSync(target, 'precious');
  symlinkSync(target, link);
  await writePrivateFile(link, 'new');
  expect(readFileSync(target, 'utf8')).toBe('precious');
  expect(readFileSync(link, 'utf8')).toBe('new');
});

test('what is not a regular file is refused and stays', async () => {
  const folder = temporaryFolder();
  const [pipe, directory, link] = ['pipe', 'directory', 'link'].map((name) => join(folder, name));
  execFileSync('mkfifo', [pipe!]);
  mkdirSync(directory!);
  symlinkSync('/dev/null', link!);
  for (const path of [pipe!, directory!, link!]) {
    const before = lstatSync(path).ino;
    await expect(writePrivateFile(path, 'x')).rejects.toThrow('it is not a regular file');
    expect(lstatSync(path).ino).toBe(before);
  }
});

test.each(['/dev/stdout', '/dev/null', '/dev/stowage-new'])('%s is refused', async (path) => {
  await expect(writePrivateFile(path, 'x')).rejects.toThrow('it is not a regular file');
});
