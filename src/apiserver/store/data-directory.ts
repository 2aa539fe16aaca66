import { accessSync, closeSync, constants, fsyncSync, openSync, realpathSync, statSync } from 'node:fs';
import { getSystemErrorName } from 'node:util';
import { makeFolder } from './make-folder.ts';
import { StoreError } from './store-error.ts';

/** Creates the directory unless it is there, for its owner only: objects may be secrets. Answers its real path. */
export function prepareDataDirectory(directory: string): string {
  try {
    makeFolder(directory, 0o700);
    const path = realpathSync(directory);
    if (!statSync(path).isDirectory()) throw unusable(directory, 'it is not a directory');
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return path;
  } catch (error) {
    throw error instanceof StoreError ? error : unusable(directory, reasonOf(error), error);
  }
}

/** Makes names of files in the directory outlive a power cut: syncing a file does not promise that. */
export function syncDirectory(directory: string): void {
  const descriptor = openSync(directory, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

export function unusable(directory: string, why: string, cause?: unknown): StoreError {
  const message = `the data directory ${directory} cannot be used: ${why}; choose another with --data`;
  return new StoreError('Unusable', message, { cause });
}

const reasons: ReadonlyMap<unknown, string> = new Map([
  ['EACCES', 'no permission to read and write it'],
  ['EPERM', 'no permission to read and write it'],
  ['EEXIST', 'it is not a directory'],
  ['ENOTDIR', 'part of its path is not a directory'],
  ['EROFS', 'its file system is read-only'],
  ['ENOSPC', 'the disk is full'],
  ['EDQUOT', 'the disk quota is used up'],
  ['EFBIG', 'files may not grow any more (ulimit -f)'],
  ['ENAMETOOLONG', 'its name is too long'],
]);

/** A sentence about an error of the file system, which Node names and LMDB numbers. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? error.code : undefined;
  const name = typeof code === 'number' && code > 0 ? getSystemErrorName(-code) : code;
  return reasons.get(name) ?? error.message;
}
