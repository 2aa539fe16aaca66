import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileSystemReason } from '../../io/files/file-system-reason.ts';
import { prepareDataDirectory, unusableDirectory } from './data-directory.ts';
import { type DirectoryLock, lockDirectory } from './directory-lock.ts';
import type { HistoryLimits } from './history.ts';
import { openLmdbDatabase } from './lmdb-database.ts';
import { LmdbDurability } from './lmdb-durability.ts';
import { checkLmdbFile } from './lmdb-file.ts';
import { checkLmdbPages } from './lmdb-pages.ts';
import { firstRevision, MemoryStore } from './memory-store.ts';
import type { Store } from './store.ts';
import { StoreError } from './store-error.ts';

export interface LmdbStoreOptions {
  readonly history?: Partial<HistoryLimits> | undefined;
}

/**
 * A store that keeps its objects in a directory, which is created unless it is there. All of them are read into memory
 * before it resolves. Rejects with a `StoreError` where the directory is in use, of a newer format or not to be used.
 */
export async function openLmdbStore(directory: string, { history }: LmdbStoreOptions = {}): Promise<Store> {
  const path = prepareDataDirectory(directory);
  const lock = await lockDirectory(path);
  const durability = await openDurability(path, lock);
  try {
    const initial = { revision: durability.revision, entries: durability.entries() };
    const store = new MemoryStore({ durability, history, initial });
    await durability.reopen();
    return store;
  } catch (error) {
    await durability.close();
    throw asStoreError(path, error);
  }
}

async function openDurability(path: string, lock: DirectoryLock): Promise<LmdbDurability> {
  try {
    checkObjects(join(path, 'store.mdb'));
    return new LmdbDurability(path, lock, await openLmdbDatabase(path, firstRevision));
  } catch (error) {
    await lock.release();
    throw asStoreError(path, error);
  }
}

/** Once, at the start: what this process writes then is as it should be. */
function checkObjects(path: string): void {
  if (!existsSync(path) || statSync(path).size === 0) return;
  checkLmdbFile(path);
  checkLmdbPages(path);
}

/** Whatever goes wrong while the data is read is about the data. */
function asStoreError(path: string, error: unknown): StoreError {
  return error instanceof StoreError ? error : unusableDirectory(path, fileSystemReason(error), error);
}
