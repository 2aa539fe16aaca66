import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { open, type RootDatabase } from 'lmdb';
import { fileSystemReason } from '../../io/files/file-system-reason.ts';
import { unusableDirectory } from './data-directory.ts';
import { checkLmdbFile } from './lmdb-file.ts';
import { checkLmdbPages } from './lmdb-pages.ts';
import { StoreError } from './store-error.ts';

/**
 * Allows only one process at a time to open a data directory.
 *
 * Node offers no file locks, and a file with a process id is wrong after a crash once another process has the same id.
 * But LMDB holds operating system locks (fcntl) for its table of readers: each process that has read holds a lock on a
 * byte of its own, and the kernel releases it however the process ends. So the lock is an empty LMDB database: a
 * process first enters the table and then checks for other entries; entries without a live lock are removed before. If
 * two processes start at the same time, at least one sees the other and exits. Containers that share the directory see each
 * other too; if both have the same process id, the second cannot even enter the table.
 *
 * It is a separate database, so that no object data is touched before the lock is held.
 */
export interface DirectoryLock {
  release(): Promise<void>;
}

/** Locks held by this process, by device and inode: file locks do not exclude within one process. */
const held = new Set<string>();

export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  const { dev, ino } = statSync(directory);
  const id = `${dev}:${ino}`;
  if (held.has(id)) throw inUse(directory, process.pid);
  held.add(id);
  let table: RootDatabase | undefined;
  try {
    table = openTable(directory);
    expectAlone(directory, table);
  } catch (error) {
    held.delete(id);
    await table?.close();
    throw error;
  }
  return { release: () => release(id, table) };
}

async function release(id: string, table: RootDatabase): Promise<void> {
  await table.close();
  held.delete(id);
}

function openTable(directory: string): RootDatabase {
  const options = {
    path: join(directory, 'owner.mdb'),
    noSubdir: true,
    overlappingSync: false,
    mapSize: 2 ** 16,
    permissionsMode: 0o600,
  };
  try {
    checkLmdbFile(options.path);
    if (existsSync(options.path)) checkLmdbPages(options.path);
    return open(options);
  } catch (error) {
    // Not reported as damaged data: --fresh would not help, because it needs the lock too.
    throw unusableDirectory(directory, fileSystemReason(error), new Error('lock', { cause: error }));
  }
}

function expectAlone(directory: string, table: RootDatabase): void {
  try {
    table.get('enter the table of readers');
  } catch (error) {
    throw inUse(directory, undefined, error);
  }
  table.readerCheck();
  const readers = readerPids(table);
  const other = readers.find((pid) => pid !== process.pid);
  if (other !== undefined || readers.length > 1) throw inUse(directory, other ?? process.pid);
}

/** Parses lines such as `     19722 7fa4a68e4c80 0` below a heading. */
function readerPids(table: RootDatabase): number[] {
  const lines = table.readerList().split('\n');
  return lines.flatMap((line) => /^\s*(\d+)\s/.exec(line)?.[1] ?? []).map(Number);
}

function inUse(directory: string, pid: number | undefined, cause?: unknown): StoreError {
  const owner = pid === undefined ? 'another process' : `process ${pid}`;
  const message = `the data directory ${directory} is in use by ${owner}; stop it or choose another with --data`;
  return new StoreError('InUse', message, { cause });
}
