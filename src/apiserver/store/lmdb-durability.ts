import { statfs } from 'node:fs/promises';
import { fileSystemReason, isDiskFull } from '../../io/files/file-system-reason.ts';
import { assert } from '../../runtime/assert.ts';
import {
  addEntry,
  applyChanges,
  type ContentsChecksum,
  emptyChecksum,
  formatChecksum,
} from './contents-checksum.ts';
import type { DirectoryLock } from './directory-lock.ts';
import type { Durability } from './durability.ts';
import { FileReserve } from './file-reserve.ts';
import {
  contentsMetaKey,
  encodeEntry,
  encodeKey,
  type LmdbDatabase,
  openLmdbDatabase,
  readEntries,
  readRevision,
  revisionMetaKey,
} from './lmdb-database.ts';
import type { StoreChange, StoreEntry } from './store.ts';
import { DamagedData, StoreError } from './store-error.ts';

/**
 * How many bytes are written before the file is reopened. Pages that LMDB reads while writing stay mapped and count as
 * memory of this process, though the kernel may reclaim them; eventually that would be the whole file.
 */
const mappedBytesMax = 32 * 2 ** 20;

/** Writes batches of changes to LMDB, one transaction each. */
export class LmdbDurability implements Durability {
  readonly #directory: string;
  readonly #lock: DirectoryLock;
  readonly #reserve: FileReserve;
  /** Undefined after a failed reopen. */
  #database: LmdbDatabase | undefined;
  /** The revision of the last durable transaction. */
  #revision: number;
  /** The checksum of the same transaction, once all entries have been read. */
  #contents = emptyChecksum;
  #hasFailed = false;
  #writtenBytes = 0;

  /** Takes ownership of `lock`. */
  constructor(directory: string, lock: DirectoryLock, database: LmdbDatabase) {
    this.#directory = directory;
    this.#lock = lock;
    this.#database = database;
    this.#reserve = new FileReserve(directory);
    this.#revision = readRevision(database);
  }

  get revision(): number {
    return this.#revision;
  }

  /** Must be read to the end; throws there if the data differs from what was written. */
  *entries(): Iterable<readonly [string, StoreEntry]> {
    const database = this.#database;
    if (database === undefined) return;
    let found = emptyChecksum;
    for (const [bucket, entry] of readEntries(database)) {
      found = addEntry(found, bucket, entry);
      yield [bucket, entry];
    }
    checkContents(database, found, this.#revision);
    this.#contents = found;
  }

  async persist(changes: readonly StoreChange[], revision: number): Promise<void> {
    const contents = applyChanges(this.#contents, changes);
    try {
      await this.#reserve.prepare(changes);
    } catch (error) {
      throw await writeFailed(this.#directory, error);
    }
    try {
      const isDue = this.#hasFailed || this.#writtenBytes > mappedBytesMax;
      const database = isDue ? await this.reopen() : this.#database;
      assert(database !== undefined, 'the store is closed');
      await commit(database, changes, { revision, contents });
    } catch (error) {
      this.#hasFailed = true;
      throw await writeFailed(this.#directory, error);
    }
    this.#revision = revision;
    this.#contents = contents;
    for (const { entry } of changes) this.#writtenBytes += entry.bytes.length;
  }

  /**
   * Reopens the file. This releases mapped pages, which count as memory of this process. After a failure it is the only
   * way to continue: LMDB refuses to work once the page that makes a commit final could not be written, and lmdb-js
   * then never responds. If that commit reached the disk after all, the state of the disk is unknown and the store must
   * not continue.
   */
  async reopen(): Promise<LmdbDatabase> {
    await this.#closeDatabase();
    const database = await openLmdbDatabase(this.#directory, undefined);
    this.#database = database;
    const found = readRevision(database);
    if (found !== this.#revision) {
      throw new Error(
        `a failed write reached the disk (revision ${found}, expected ${this.#revision}); restart the process`,
      );
    }
    this.#hasFailed = false;
    this.#writtenBytes = 0;
    return database;
  }

  async close(): Promise<void> {
    await this.#closeDatabase();
    await this.#reserve.close();
    await this.#lock.release();
  }

  async #closeDatabase(): Promise<void> {
    const database = this.#database;
    this.#database = undefined;
    await database?.root.close();
  }
}

/** The checksum names the revision, so a damaged revision is found too. */
function checkContents({ meta }: LmdbDatabase, found: ContentsChecksum, revision: number): void {
  const stored = meta.get(contentsMetaKey)?.toString();
  if (stored === formatChecksum(found, revision)) return;
  throw new DamagedData(
    `store.mdb is damaged: the checksum of its ${found.count} objects does not match (restore it from a backup)`,
  );
}

/** Everything is encoded before the transaction begins: an exception inside would leave it half done. */
async function commit(
  { root, objects, meta }: LmdbDatabase,
  changes: readonly StoreChange[],
  { revision, contents }: { readonly revision: number; readonly contents: ContentsChecksum },
): Promise<void> {
  const replacements = encodeReplacements(changes);
  const contentsRecord = Buffer.from(formatChecksum(contents, revision));
  const revisionRecord = Buffer.from(String(revision));
  await root.batch(() => {
    for (const { outdated, key, record } of replacements) {
      if (outdated !== undefined) void objects.remove(outdated);
      if (record !== undefined) void objects.put(key, record);
    }
    void meta.put(revisionMetaKey, revisionRecord);
    void meta.put(contentsMetaKey, contentsRecord);
  });
  await root.flushed;
}

interface Replacement {
  /** The record on disk; undefined for a creation. */
  readonly outdated: Buffer | undefined;
  readonly key: Buffer;
  /** Undefined for a removal. */
  readonly record: Buffer | undefined;
}

/**
 * One record for each object, however often it changed: the record from before the first change is removed, the result
 * of the last change is written.
 */
function encodeReplacements(changes: readonly StoreChange[]): Replacement[] {
  const first = new Map<string, StoreChange>();
  const last = new Map<string, StoreChange>();
  for (const change of changes) {
    const name = `${change.bucket}\0${change.entry.key}`;
    if (!first.has(name)) first.set(name, change);
    // Deleted and set again, so that records are written in order of their revision: ascending keys fill pages one
    // after the other.
    last.delete(name);
    last.set(name, change);
  }
  return [...last].map(([name, { type, bucket, entry }]) => {
    const before = first.get(name)?.previous;
    return {
      outdated: before === undefined ? undefined : encodeKey(before.revision),
      key: encodeKey(entry.revision),
      record: type === 'put' ? encodeEntry(bucket, entry) : undefined,
    };
  });
}

async function writeFailed(directory: string, error: unknown): Promise<StoreError> {
  const cause = await causeOf(error);
  const hasNoSpace = isDiskFull(cause) || (await isOutOfSpace(directory));
  const reason = hasNoSpace && !isDiskFull(cause) ? 'the disk is full' : fileSystemReason(cause);
  const message = `writing to the data directory ${directory} failed: ${reason}; the write was rolled back`;
  return new StoreError(hasNoSpace ? 'DiskFull' : 'WriteFailed', message, { cause });
}

/** LMDB reports a write of fewer bytes than given, as on a disk with some last bytes, as an input/output error. */
async function isOutOfSpace(directory: string): Promise<boolean> {
  try {
    const { bavail, bsize } = await statfs(directory);
    return bavail * bsize < spareBytes;
  } catch {
    return false;
  }
}

/** A disk with less free space counts as full. */
const spareBytes = 2 ** 20;

/** lmdb-js reports only that a commit failed; the reason is the rejection of a promise attached to the error. */
async function causeOf(error: unknown): Promise<unknown> {
  if (!(error instanceof Error && 'commitError' in error)) return error;
  try {
    await error.commitError;
    return error;
  } catch (cause) {
    return cause;
  }
}
