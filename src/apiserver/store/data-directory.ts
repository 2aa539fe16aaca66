import { accessSync, closeSync, constants, fsyncSync, openSync, realpathSync, statSync } from 'node:fs';
import { fileSystemReason } from '../../io/files/file-system-reason.ts';
import { makeDirectory } from '../../io/files/make-directory.ts';
import { DamagedData, StoreError } from './store-error.ts';

/** Creates the directory if it does not exist, accessible only to its owner, since objects may be secrets. Returns its real path. */
export function prepareDataDirectory(directory: string): string {
  try {
    makeDirectory(directory, 0o700);
    const path = realpathSync(directory);
    if (!statSync(path).isDirectory()) throw unusableDirectory(directory, 'it is not a directory');
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return path;
  } catch (error) {
    throw error instanceof StoreError ? error : unusableDirectory(directory, fileSystemReason(error), error);
  }
}

/** Persists file names of the directory across a power failure: syncing a file does not guarantee that. */
export function syncDirectory(directory: string): void {
  const descriptor = openSync(directory, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

export function unusableDirectory(directory: string, why: string, cause?: unknown): StoreError {
  const message = `the data directory ${directory} cannot be used: ${why}; choose another with --data`;
  return new StoreError(cause instanceof DamagedData ? 'Damaged' : 'Unusable', message, { cause });
}
