import { type BigIntStats, constants } from 'node:fs';
import {
  access,
  type FileHandle,
  link,
  lstat,
  mkdir,
  open,
  readdir,
  rename,
  rmdir,
  stat,
  statfs,
  unlink,
} from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Ids } from '../../../runtime/ids.ts';

/**
 * The operations of the agent on the files of its node. Every call that writes is durable when it returns, and takes place as a whole or not at
 * all, except for `DataFile.write`. So a process may die between any two calls, and the next one finds what the finished calls left.
 */
export interface HostFiles {
  /** Makes one directory, if there is none; the directory above must exist. */
  makeFolder(path: string): Promise<void>;
  /** Replaces the file, or creates it. */
  writeText(path: string, text: string): Promise<void>;
  /** False if there is such a file already; then nothing changes. */
  createText(path: string, text: string): Promise<boolean>;
  /** Sets the length of a file, or creates a file of that length. Bytes that were never written occupy no space. */
  resize(path: string, bytes: number): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** A file that does not exist is removed already. */
  removeFile(path: string): Promise<void>;
  /** False if the directory is not empty; then it stays. */
  removeFolder(path: string): Promise<boolean>;
  /** Opens a file for reading and writing, and creates it if `isNew` says that it may be. Symbolic links are refused. */
  openData(path: string, isNew: boolean): Promise<DataFile>;
  /** Undefined if there is nothing. `isFollowed`: of what a symbolic link leads to. */
  facts(path: string, isFollowed?: boolean): Promise<FileFacts | undefined>;
  /** Undefined if there is no such file. Longer files are an error. */
  readText(path: string): Promise<string | undefined>;
  /** The names in a directory, sorted; none if it does not exist. */
  entries(path: string): Promise<readonly string[]>;
  /** Fails if the directory can't be written. */
  checkWritable(path: string): Promise<void>;
  usage(path: string): Promise<HostFilesystemUsage>;
}

export interface DataFile {
  readonly path: string;
  /** How many bytes were read; less than asked for only at the end of the file. */
  read(buffer: Uint8Array, at: number): Promise<number>;
  write(bytes: Uint8Array, at: number): Promise<void>;
  /** Sets the length. Bytes that were never written occupy no space. */
  resize(bytes: number): Promise<void>;
  /** Makes the bytes that were written so far survive a crash of the machine. */
  sync(): Promise<void>;
  size(): Promise<number>;
  /** Sets the time of the last modification a little back, and returns the stamp: whatever is written from now on gives the file another one. */
  mark(): Promise<FileStamp>;
  facts(): Promise<FileFacts>;
  close(): Promise<void>;
}

/** Changes with every write, except within a few milliseconds after another one; `DataFile.mark` excludes those. */
export interface FileStamp {
  readonly bytes: number;
  /** When the data was modified, in nanoseconds since 1970. */
  readonly modifiedNs: string;
}

export interface FileFacts extends FileStamp {
  readonly isFolder: boolean;
  readonly isFile: boolean;
  /** Bytes on the disk: less than `bytes` for a sparse file. */
  readonly occupiedBytes: number;
  /** The id of the filesystem, while it is mounted. */
  readonly device: string;
}

export interface HostFilesystemUsage {
  readonly totalBytes: number;
  /** Bytes that a process without special rights may still write. */
  readonly freeBytes: number;
  /** The magic number of the filesystem's type. */
  readonly type: number;
}

/** Identity files are short; a longer one is not ours. */
const textBytesMax = 65_536;
const blockBytes = 512;

/** Files of this machine. `ids` names temporary files. */
export function hostFiles(ids: Ids): HostFiles {
  const temporaryFor = (path: string) => `${path}.${ids.uid()}.tmp`;
  return {
    async makeFolder(path) {
      if (await unless('EEXIST', mkdir(path, 0o700))) await syncFolder(dirname(path));
      else if (!(await lstat(path)).isDirectory())
        throw new Error(`${path} is not a directory; move it away`);
    },
    async writeText(path, text) {
      const temporary = temporaryFor(path);
      await writeDurably(temporary, text);
      await rename(temporary, path);
      await syncFolder(dirname(path));
    },
    async createText(path, text) {
      const temporary = temporaryFor(path);
      await writeDurably(temporary, text);
      try {
        // A link is made only if there is no such file, as O_EXCL would, and never shows a file that is half written.
        const isMade = await unless('EEXIST', link(temporary, path));
        await syncFolder(dirname(path));
        return isMade;
      } finally {
        await unlink(temporary);
      }
    },
    async resize(path, bytes) {
      const existed = (await factsOf(path, false)) !== undefined;
      await using file = await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
      await file.truncate(bytes);
      await file.sync();
      if (!existed) await syncFolder(dirname(path));
    },
    async rename(from, to) {
      await rename(from, to);
      await syncFolder(dirname(to));
    },
    async removeFile(path) {
      if (await unless('ENOENT', unlink(path))) await syncFolder(dirname(path));
    },
    async removeFolder(path) {
      if ((await factsOf(path, false)) === undefined) return true;
      if (!(await unless('ENOTEMPTY', undefinedIfMissing(rmdir(path))))) return false;
      await syncFolder(dirname(path));
      return true;
    },
    async openData(path, isNew) {
      const flags = constants.O_RDWR | constants.O_NOFOLLOW | (isNew ? constants.O_CREAT : 0);
      return dataFile(path, await open(path, flags, 0o600));
    },
    facts: async (path, isFollowed = false) => await factsOf(path, isFollowed),
    async readText(path) {
      const file = await undefinedIfMissing(open(path, constants.O_RDONLY | constants.O_NOFOLLOW));
      if (file === undefined) return undefined;
      await using opened = file;
      if ((await opened.stat()).size > textBytesMax) throw new Error(`${path} is too long to be ours`);
      return await opened.readFile('utf8');
    },
    entries: async (path) => ((await undefinedIfMissing(readdir(path))) ?? []).sort(),
    checkWritable: async (path) => await access(path, constants.W_OK | constants.X_OK),
    async usage(path) {
      const { bsize, blocks, bavail, type } = await statfs(path, { bigint: true });
      return { totalBytes: safe(blocks * bsize), freeBytes: safe(bavail * bsize), type: Number(type) };
    },
  };
}

function dataFile(path: string, file: FileHandle): DataFile {
  return {
    path,
    read: async (buffer, at) => {
      let done = 0;
      while (done < buffer.length) {
        const { bytesRead } = await file.read(buffer, done, buffer.length - done, at + done);
        if (bytesRead === 0) break;
        done += bytesRead;
      }
      return done;
    },
    write: async (bytes, at) => {
      for (let done = 0; done < bytes.length; )
        done += (await file.write(bytes, done, bytes.length - done, at + done)).bytesWritten;
    },
    resize: async (bytes) => await file.truncate(bytes),
    sync: async () => await file.sync(),
    size: async () => (await file.stat()).size,
    facts: async () => factsFrom(await file.stat({ bigint: true })),
    mark: async () => {
      const before = await file.stat({ bigint: true });
      // The clock of a filesystem moves in steps of some milliseconds, and two writes within one step give a file the same time. No later
      // write gives it a time before the last one.
      const modifiedMs = before.mtimeNs / 1_000_000n - 1n;
      await file.utimes(Number(before.atimeNs / 1_000_000n) / 1000, Number(modifiedMs) / 1000);
      await file.sync();
      return factsFrom(await file.stat({ bigint: true }));
    },
    close: async () => await file.close(),
  };
}

async function factsOf(path: string, isFollowed: boolean): Promise<FileFacts | undefined> {
  const found = await undefinedIfMissing((isFollowed ? stat : lstat)(path, { bigint: true }));
  return found && factsFrom(found);
}

function factsFrom(found: BigIntStats): FileFacts {
  return {
    isFolder: found.isDirectory(),
    isFile: found.isFile(),
    bytes: safe(found.size),
    modifiedNs: String(found.mtimeNs),
    occupiedBytes: safe(found.blocks) * blockBytes,
    device: String(found.dev),
  };
}

/** Sizes of our kinds end at 2^53 - 1. A larger disk is used up to there. */
function safe(bytes: bigint): number {
  return bytes > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(bytes);
}

async function writeDurably(path: string, text: string): Promise<void> {
  await using file = await open(path, 'wx', 0o600);
  await file.writeFile(text);
  await file.sync();
}

/** A new or renamed entry survives a crash of the machine only if its directory is synced too. */
async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path, constants.O_RDONLY);
  await folder.sync();
}

async function undefinedIfMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** Whether the work was done; false where it failed with this code. */
async function unless(code: string, work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === code) return false;
    throw error;
  }
}
