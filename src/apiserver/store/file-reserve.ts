import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { readLastPage } from './lmdb-metas.ts';
import type { StoreChange } from './store.ts';

/** How far the file is extended each time, if the disk has that much space. */
const chunkBytes = 2 ** 20;

/** Space that only batches without a put may use, so that objects can be deleted when the disk is full. */
const keptForRemovals = 2 ** 18;

/** The roots and branches that a transaction copies, and the list of free pages. */
const fixedPages = 16;

const zeros = Buffer.alloc(2 ** 18);

/**
 * Writes zeros to the end of the file before a transaction needs the space. A transaction then only overwrites, so it
 * cannot run into a full disk; lmdb-js 3.5.6 damages its own memory in that case, and sooner or later the process ends.
 * A file that does not fit fails here, where nothing has been changed. This does not help on file systems that copy on
 * write, nor for holes in a file that was copied as a sparse one.
 */
export class FileReserve {
  readonly #path: string;
  #file: FileHandle | undefined;
  /** The end of the file; only this process writes to it. */
  #endBytes = 0;

  constructor(directory: string) {
    this.#path = join(directory, 'store.mdb');
  }

  /** Rejects with the error of the file system if there is no space for these changes. */
  async prepare(changes: readonly StoreChange[]): Promise<void> {
    const file = await this.#open();
    // These pages are in memory, as LMDB has just written them: no need to wait for another thread.
    const { lastPage, pageBytes } = readLastPage(file.fd);
    const usedBytes = (lastPage + 1) * pageBytes;
    const required = usedBytes + bytesNeeded(changes, lastPage, pageBytes);
    if (required <= this.#endBytes) return;
    const wanted = Math.max(required, usedBytes + chunkBytes);
    try {
      await this.#extend(file, Math.ceil(wanted / pageBytes) * pageBytes);
    } catch (error) {
      if (required > this.#endBytes) throw error;
    }
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  async #open(): Promise<FileHandle> {
    if (this.#file !== undefined) return this.#file;
    this.#file = await open(this.#path, 'r+');
    this.#endBytes = (await this.#file.stat()).size;
    return this.#file;
  }

  async #extend(file: FileHandle, endBytes: number): Promise<void> {
    while (this.#endBytes < endBytes) {
      const length = Math.min(zeros.length, endBytes - this.#endBytes);
      const { bytesWritten } = await file.write(zeros, 0, length, this.#endBytes);
      this.#endBytes += bytesWritten;
    }
  }
}

/**
 * An upper bound of what a transaction can append. Large records have pages of their own. Small ones are appended to
 * the end of the tree, whose pages are at least half full. A removal copies at most one page of the tree.
 */
function bytesNeeded(changes: readonly StoreChange[], lastPage: number, pageBytes: number): number {
  let bytes = 0;
  let removals = 0;
  let hasPut = false;
  for (const { type, bucket, entry, previous } of changes) {
    if (previous !== undefined) removals += 1;
    if (type === 'remove') continue;
    hasPut = true;
    const record = entry.bytes.length + 3 * (bucket.length + entry.key.length) + 64;
    bytes += record < pageBytes / 4 ? 2 * record : (Math.ceil(record / pageBytes) + 1) * pageBytes;
  }
  const copiedPages = Math.ceil(1.1 * Math.min(removals, lastPage)) + fixedPages;
  const freeListBytes = 16 * lastPage;
  return bytes + copiedPages * pageBytes + freeListBytes + (hasPut ? keptForRemovals : 0);
}
