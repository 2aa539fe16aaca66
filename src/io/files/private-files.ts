import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { open, readFile, realpath, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeDirectory } from './make-directory.ts';

/**
 * Writes a file that only its owner may read, atomically, even if the machine stops meanwhile. It replaces only a regular
 * file: for root, replacing `/dev/stdout` would remove it from the machine.
 */
export async function writePrivateFile(path: string, contents: string): Promise<void> {
  makeDirectory(dirname(path), 0o700);
  await requireReplaceable(path);
  // An unpredictable name opened with `wx`: another user who may write to the directory cannot plant a link.
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await writeNew(temporary, contents);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function writeNew(path: string, contents: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(contents);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** `/dev/stdout` may be redirected to a regular file, so everything below /dev and /proc is refused. */
async function requireReplaceable(path: string): Promise<void> {
  const folder = await realpath(dirname(path));
  const found = statSync(path, { throwIfNoEntry: false });
  const isOfSystem = /^\/(dev|proc|sys)(\/|$)/.test(folder) && !folder.startsWith('/dev/shm');
  if (isOfSystem || (found !== undefined && !found.isFile()))
    throw new Error('it is not a regular file, which could be replaced');
}

/** Undefined if the file does not exist. */
export async function readFileIfExists(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
