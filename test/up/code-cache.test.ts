import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Exit, StowageProcess, temporaryFolder } from './stowage-process.ts';

/** The commands and flags of the program, which takes no cluster. */
const call = ['completion', 'bash'];

test('the first call of a command saves the compiled code; later calls use it and write nothing', async () => {
  const caches = temporaryFolder();
  const first = await callWithCaches(caches);
  expect(first).toMatchObject({ status: 0, stderr: '' });
  const [file = '', ...others] = filesBelow(caches);
  expect([file, others]).toEqual([expect.stringMatching(/^stowage\/code\/[^/]+\/completion\.bin$/), []]);
  const saved = readFileSync(join(caches, file));
  expect(saved.length).toBeGreaterThan(100_000);
  expect(await callWithCaches(caches)).toEqual(first);
  expect(readFileSync(join(caches, file)).equals(saved)).toBe(true);

  writeFileSync(join(caches, file), saved.subarray(0, saved.length / 2));
  expect(await callWithCaches(caches), 'with half of the file').toEqual(first);
  expect(readFileSync(join(caches, file)).length).toBeGreaterThan(100_000);
});

test('a cache that cannot be written changes nothing', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'file'), '');
  expect(await callWithCaches(join(folder, 'file'))).toMatchObject({ status: 0, stderr: '' });
  // No user may create anything there, as in an image with a read-only file system.
  expect(await callWithCaches('/proc/self')).toMatchObject({ status: 0, stderr: '' });
});

test('a misspelled command saves nothing', async () => {
  const caches = temporaryFolder();
  expect(await callWithCaches(caches, 'explian')).toMatchObject({ status: 2 });
  expect(existsSync(join(caches, 'stowage'))).toBe(false);
});

async function callWithCaches(
  XDG_CACHE_HOME: string,
  ...args: readonly string[]
): Promise<Exit & { stdout: string; stderr: string }> {
  const stowage = new StowageProcess(args.length > 0 ? args : call, undefined, { XDG_CACHE_HOME });
  const exit = await stowage.exited;
  return { ...exit, stdout: stowage.stdout, stderr: stowage.stderr };
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}
