import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, open, type RootDatabase } from 'lmdb';
import { fileSystemReason } from '../../io/files/file-system-reason.ts';
import { emptyChecksum, formatChecksum } from './contents-checksum.ts';
import { syncDirectory, unusableDirectory } from './data-directory.ts';
import { checkLmdbFile } from './lmdb-file.ts';
import type { StoreEntry } from './store.ts';
import { DamagedData, StoreError } from './store-error.ts';

/**
 * The file of a data directory, `store.mdb`, with two tables:
 *
 *     objects   revision         ->   createRevision, bucket NUL key NUL, then the bytes
 *     meta      "format"         ->   "1"
 *               "revision"       ->   the revision of the newest write, in decimal
 *               "contents"       ->   that revision, the number of objects then, and their checksum
 *
 * Revisions are big-endian doubles of 8 bytes, which sort as numbers do. Objects are stored in write order, so that a
 * batch fills one end of the tree. With names as keys, every object of a batch would touch a different page, which
 * would have to be read, written completely, and would count as memory of this process.
 */
export interface LmdbDatabase {
  readonly root: RootDatabase<Buffer, Buffer>;
  readonly objects: Database<Buffer, Buffer>;
  readonly meta: Database<Buffer, Buffer>;
}

const formatVersion = 1;

const revisionBytes = 8;
const tableOptions = { encoding: 'binary', keyEncoding: 'binary' } as const;
export const formatMetaKey = Buffer.from('format');
export const revisionMetaKey = Buffer.from('revision');
export const contentsMetaKey = Buffer.from('contents');

/**
 * - `overlappingSync` off, unlike lmdb-js's default. When on, a transaction is visible before it is on disk, so one
 *   that fails to flush could not be rolled back (and lmdb-js does not report a failed write of the page that makes it
 *   final). When off, a resolved commit is on disk and a rejected one is not, also for a reader after a crash. Its
 *   benefit, flushing concurrently with the next transaction, comes from group commit anyway.
 * - `mapSize`: address space, not memory or disk. Much more than can ever be used, since all objects are also in
 *   memory. So the map never has to grow; growing would keep the old map until the file is closed.
 * - `pageSize`: most objects have 1 to 4 KB. A page of 4 KB holds one or two of them, and objects above 2 KB get pages
 *   of their own; with 8 KB the file is a quarter smaller and commits are slightly faster.
 * - `eventTurnBatching` off: group commit forms the batches.
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

/**
 * A new file starts at `newRevision`; if that is undefined, the file must exist. A file of a newer format or of another
 * program is rejected and left unchanged.
 */
export async function openLmdbDatabase(
  directory: string,
  newRevision: number | undefined,
): Promise<LmdbDatabase> {
  const path = join(directory, 'store.mdb');
  let root: RootDatabase<Buffer, Buffer> | undefined;
  try {
    if (newRevision === undefined && !existsSync(path)) throw new Error(`${path} does not exist any more`);
    checkLmdbFile(path);
    root = open<Buffer, Buffer>({ ...environmentOptions, ...tableOptions, path });
    const meta = root.openDB<Buffer, Buffer>('meta', { ...tableOptions });
    checkFormat(directory, meta);
    const objects = root.openDB<Buffer, Buffer>('objects', { ...tableOptions });
    const database = { root, objects, meta };
    if (meta.get(formatMetaKey) === undefined) {
      expectNew(path, database);
      if (newRevision !== undefined) await initialize(directory, database, newRevision);
    }
    return database;
  } catch (error) {
    await root?.close();
    throw error instanceof StoreError ? error : unusableDirectory(directory, fileSystemReason(error), error);
  }
}

export function readRevision({ meta }: LmdbDatabase): number {
  const text = meta.get(revisionMetaKey)?.toString();
  const revision = Number(text);
  if (!Number.isSafeInteger(revision))
    throw new DamagedData(`store.mdb is damaged: invalid revision ${text} (restore it from a backup)`);
  return revision;
}

/** All entries in write order. */
export function* readEntries({ objects }: LmdbDatabase): Generator<readonly [string, StoreEntry]> {
  for (const { key, value } of objects.getRange()) yield decodeEntry(key, value);
}

export function encodeKey(revision: number): Buffer {
  const key = Buffer.allocUnsafeSlow(revisionBytes);
  key.writeDoubleBE(revision);
  return key;
}

export function encodeEntry(bucket: string, { key, createRevision, bytes }: StoreEntry): Buffer {
  const name = Buffer.from(`${bucket}\0${key}\0`);
  const record = Buffer.allocUnsafeSlow(revisionBytes + name.length + bytes.length);
  record.writeDoubleBE(createRevision);
  record.set(name, revisionBytes);
  record.set(bytes, revisionBytes + name.length);
  return record;
}

/** `record` is a copy owned by us, and nearly all of it is used: no need to copy again. */
function decodeEntry(revisionKey: Buffer, record: Buffer): readonly [string, StoreEntry] {
  const bucketEnd = record.indexOf(0, revisionBytes);
  const keyEnd = record.indexOf(0, bucketEnd + 1);
  if (record.length < revisionBytes || bucketEnd < 0 || keyEnd < 0) {
    throw new DamagedData('store.mdb is damaged: an object is truncated (restore it from a backup)');
  }
  const entry = {
    // Decoded separately: a slice of a longer string would keep all of it in memory.
    key: record.toString('utf8', bucketEnd + 1, keyEnd),
    bytes: record.subarray(keyEnd + 1),
    createRevision: record.readDoubleBE(0),
    revision: revisionKey.readDoubleBE(0),
  };
  return [record.toString('utf8', revisionBytes, bucketEnd), entry];
}

function checkFormat(directory: string, meta: Database<Buffer, Buffer>): void {
  const format = meta.get(formatMetaKey)?.toString();
  if (format === undefined || format === String(formatVersion)) return;
  throw new StoreError(
    'NewerFormat',
    `the data directory ${directory} was written by a newer version (format ${format}, supported is ${formatVersion}); ` +
      'use that version or choose another directory with --data',
  );
}

/** A process that was killed during its first start leaves tables without records. */
function expectNew(path: string, { objects, meta }: LmdbDatabase): void {
  const isEmpty = [objects, meta].every((table) => table.getKeysCount({ limit: 1 }) === 0);
  if (!isEmpty) throw new DamagedData(`${path} is damaged: its format is missing (restore it from a backup)`);
}

async function initialize(directory: string, { root, meta }: LmdbDatabase, revision: number): Promise<void> {
  await root.batch(() => {
    void meta.put(contentsMetaKey, Buffer.from(formatChecksum(emptyChecksum, revision)));
    void meta.put(formatMetaKey, Buffer.from(String(formatVersion)));
    void meta.put(revisionMetaKey, Buffer.from(String(revision)));
  });
  await root.flushed;
  syncDirectory(directory);
}
