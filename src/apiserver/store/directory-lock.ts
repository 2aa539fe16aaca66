import { statSync } from 'node:fs';
import { join } from 'node:path';
import { open, type RootDatabase } from 'lmdb';
import { fileSystemReason } from '../../io/files/file-system-reason.ts';
import { unusableDirectory } from './data-directory.ts';
import { checkLmdbFile } from './lmdb-file.ts';
import { StoreError } from './store-error.ts';

/**
 * One process at a time has a data directory open.
 *
 * Node offers no file locks, and a file with a process id lies after a crash, once another process got the same id. But
 * LMDB keeps file locks of the operating system (fcntl) for its own table of readers: each process that has read holds
 * one on a byte of its own, and the kernel lets go of it when the process dies, however it dies. So the lock is an empty
 * LMDB database: whoever wants the directory enters the table first and then looks who else is in it; entries without
 * a living lock are cleared before. Of two that come at once, at least one sees the other and gives way. Containers that
 * share the directory see each other too; where both have the same process id, the second cannot even enter.
 *
 * It is a database of its own, so that nothing of the objects is touched before the lock is held.
 */
export interface DirectoryLock {
  release(): Promise<void>;
}

/** What this process holds, by device and inode: within a process, file locks do not exclude. */
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
    return open(options);
  } catch (error) {
    throw unusableDirectory(directory, fileSystemReason(error), error);
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

/** Of lines such as `     19722 7fa4a68e4c80 0`, below a heading. */
function readerPids(table: RootDatabase): number[] {
  const lines = table.readerList().split('\n');
  return lines.flatMap((line) => /^\s*(\d+)\s/.exec(line)?.[1] ?? []).map(Number);
}

function inUse(directory: string, pid: number | undefined, cause?: unknown): StoreError {
  const owner = pid === undefined ? 'another process' : `process ${pid}`;
  const message = `the data directory ${directory} is in use by ${owner}; stop it or choose another with --data`;
  return new StoreError('InUse', message, { cause });
}
