import { prepareDataDirectory } from './data-directory.ts';
import { type DirectoryLock, lockDirectory } from './directory-lock.ts';
import type { HistoryLimits } from './history.ts';
import { openLmdbDatabase } from './lmdb-database.ts';
import { LmdbDurability } from './lmdb-durability.ts';
import { firstRevision, MemoryStore } from './memory-store.ts';
import type { Store } from './store.ts';

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
    throw error;
  }
}

async function openDurability(path: string, lock: DirectoryLock): Promise<LmdbDurability> {
  try {
    return new LmdbDurability(path, lock, await openLmdbDatabase(path, firstRevision));
  } catch (error) {
    await lock.release();
    throw error;
  }
}
