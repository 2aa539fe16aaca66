import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileSystemReason } from '../../io/files/file-system-reason.ts';
import { prepareDataDirectory, syncDirectory, unusableDirectory } from './data-directory.ts';
import { type DirectoryLock, lockDirectory } from './directory-lock.ts';
import type { HistoryLimits } from './history.ts';
import { openLmdbDatabase } from './lmdb-database.ts';
import { LmdbDurability } from './lmdb-durability.ts';
import { checkLmdbFile } from './lmdb-file.ts';
import { checkLmdbPages } from './lmdb-pages.ts';
import { firstRevision, MemoryStore } from './memory-store.ts';
import type { Store } from './store.ts';
import { DamagedData, StoreError } from './store-error.ts';

export interface LmdbStoreOptions {
  readonly history?: Partial<HistoryLimits> | undefined;
}

/**
 * Opens a store in a directory, which is created if it does not exist. Resolves after all objects have been read into
 * memory. Rejects with a `StoreError` if the directory is in use, has a newer format or is not usable.
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
    checkObjects(path);
    const database = await openLmdbDatabase(path, firstRevision);
    markCreated(path);
    return new LmdbDurability(path, lock, database);
  } catch (error) {
    await lock.release();
    throw asStoreError(path, error);
  }
}

/** Checked once at the start; later writes are our own. */
function checkObjects(directory: string): void {
  const path = join(directory, 'store.mdb');
  if (existsSync(path) && statSync(path).size > 0) {
    checkLmdbFile(path);
    checkLmdbPages(path);
  } else if (existsSync(join(directory, createdMark))) {
    throw new DamagedData(`${path} is missing or empty (restore it from a backup)`);
  }
}

/** An empty file that shows that the objects' file was complete once: without that file, the data is lost and not new. */
const createdMark = 'store.created';

function markCreated(directory: string): void {
  const path = join(directory, createdMark);
  if (existsSync(path)) return;
  writeFileSync(path, '', { mode: 0o600 });
  syncDirectory(directory);
}

/** An error while reading the data means that the data is damaged. */
function asStoreError(path: string, error: unknown): StoreError {
  return error instanceof StoreError ? error : unusableDirectory(path, fileSystemReason(error), error);
}
