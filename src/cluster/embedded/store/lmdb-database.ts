import { join } from 'node:path';
import { type Database, open, type RootDatabase } from 'lmdb';
import { reasonOf, syncDirectory, unusable } from './data-directory.ts';
import { checkLmdbFile } from './lmdb-file.ts';
import type { Entry } from './store.ts';
import { StoreError } from './store-error.ts';

/**
 * The file of a data directory, `store.mdb`, with two tables:
 *
 *     objects   bucket NUL key   ->   createRevision, revision (8 bytes each, big-endian doubles), then the bytes
 *     meta      "format"         ->   "1"
 *               "revision"       ->   that of the newest write, in decimal
 */
export interface LmdbDatabase {
  readonly root: RootDatabase<Buffer, Buffer>;
  readonly objects: Database<Buffer, Buffer>;
  readonly meta: Database<Buffer, Buffer>;
}

export const formatVersion = 1;

const headerBytes = 16;
const tableOptions = { encoding: 'binary', keyEncoding: 'binary' } as const;
export const formatKey = Buffer.from('format');
export const revisionKey = Buffer.from('revision');

/**
 * - `overlappingSync` off, unlike lmdb-js's default. With it on, a transaction is visible before it is on disk, so one that
 *   cannot be flushed could not be taken back (and lmdb-js does not tell when writing the page that makes it final
 *   fails). Without it, a commit that has resolved is on disk, one that has rejected is not there, also for a reader
 *   after a crash. What it would gain, flushing beside the next transaction, group commit gains anyway.
 * - `mapSize`: address space, not memory or disk. Much more than can ever be used, as all objects are in memory too: so the
 *   map never has to move, which would keep the old one around until the file is closed.
 * - `pageSize`: most objects have 1 to 4 KB. Pages of 4 KB hold two or one of them, and those above 2 KB get pages of their
 *   own; with 8 KB the file is a quarter smaller and commits are a little faster.
 * - `eventTurnBatching` off: what belongs together is decided by group commit.
 */
const environmentOptions = {
  noSubdir: true,
  overlappingSync: false,
  eventTurnBatching: false,
  mapSize: 16 * 2 ** 30,
  pageSize: 8192,
  maxDbs: 4,
  permissionsMode: 0o600,
};

/** A new file gets `newRevision`; one of a newer format, or that is no such file, is refused and left as it is. */
export async function openLmdbDatabase(directory: string, newRevision: number): Promise<LmdbDatabase> {
  const path = join(directory, 'store.mdb');
  let root: RootDatabase<Buffer, Buffer> | undefined;
  try {
    checkLmdbFile(path);
    root = open<Buffer, Buffer>({ ...environmentOptions, ...tableOptions, path });
    const meta = root.openDB<Buffer, Buffer>('meta', { ...tableOptions });
    checkFormat(directory, meta);
    const objects = root.openDB<Buffer, Buffer>('objects', { ...tableOptions });
    const database = { root, objects, meta };
    if (meta.get(formatKey) === undefined) await initialize(directory, database, newRevision);
    return database;
  } catch (error) {
    await root?.close();
    throw error instanceof StoreError ? error : unusable(directory, reasonOf(error), error);
  }
}

export function readRevision({ meta }: LmdbDatabase): number {
  const text = meta.get(revisionKey)?.toString();
  const revision = Number(text);
  if (!Number.isSafeInteger(revision)) throw new Error(`its revision reads ${text}: the data is damaged`);
  return revision;
}

/** All entries, by bucket and key. */
export function* readEntries({ objects }: LmdbDatabase): Generator<readonly [string, Entry]> {
  for (const { key, value } of objects.getRange()) {
    const end = key.indexOf(0);
    // The key is read by itself: a part of a longer text would keep that in memory.
    yield [key.toString('utf8', 0, end), decodeEntry(key.toString('utf8', end + 1), value)];
  }
}

export function encodeKey(bucket: string, key: string): Buffer {
  return Buffer.from(`${bucket}\0${key}`);
}

export function encodeEntry({ createRevision, revision, bytes }: Entry): Buffer {
  const record = Buffer.allocUnsafeSlow(headerBytes + bytes.length);
  record.writeDoubleBE(createRevision, 0);
  record.writeDoubleBE(revision, 8);
  record.set(bytes, headerBytes);
  return record;
}

/** `record` is a copy of its own, of which all but the header is used: no need to copy again. */
function decodeEntry(key: string, record: Buffer): Entry {
  if (record.length < headerBytes) throw new Error(`${key} is cut short: the data is damaged`);
  return {
    key,
    bytes: record.subarray(headerBytes),
    createRevision: record.readDoubleBE(0),
    revision: record.readDoubleBE(8),
  };
}

function checkFormat(directory: string, meta: Database<Buffer, Buffer>): void {
  const format = meta.get(formatKey)?.toString();
  if (format === undefined || format === String(formatVersion)) return;
  throw new StoreError(
    'NewerFormat',
    `the data directory ${directory} was written by a newer version (format ${format}, this one knows ${formatVersion}); ` +
      'use that version or choose another directory with --data',
  );
}

async function initialize(directory: string, { root, meta }: LmdbDatabase, revision: number): Promise<void> {
  await root.batch(() => {
    void meta.put(formatKey, Buffer.from(String(formatVersion)));
    void meta.put(revisionKey, Buffer.from(String(revision)));
  });
  await root.flushed;
  syncDirectory(directory);
}
