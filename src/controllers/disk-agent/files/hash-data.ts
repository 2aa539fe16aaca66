import { createHash } from 'node:crypto';
import { ContentsHash, emptyContents } from './contents-hash.ts';
import type { DataFolder } from './data-folder.ts';
import type { DataFile } from './host-files.ts';

/** A whole number of the blocks of `ContentsHash`. Between two chunks, the process does other work. */
const chunkBytes = 2 ** 20;

export interface PartHashes {
  /** Hexadecimal digits, as sha512sum prints them. */
  readonly sha512: string;
  readonly contents: string;
}

/** The SHA-512 of the data that is on its way, as the disk returns it. */
export async function sha512OfPart(folder: DataFolder, signal: AbortSignal): Promise<string> {
  const file = await folder.openPart();
  try {
    const sha512 = createHash('sha512');
    await readAll(file, signal, (chunk) => void sha512.update(chunk));
    return sha512.digest('hex');
  } finally {
    await file.close();
  }
}

/** Both checksums of the data that is being transferred, computed in one pass. */
export async function hashesOfPart(folder: DataFolder, signal: AbortSignal): Promise<PartHashes> {
  const file = await folder.openPart();
  try {
    const sha512 = createHash('sha512');
    const contents = new ContentsHash();
    await readAll(file, signal, (chunk) => {
      sha512.update(chunk);
      contents.add(chunk);
    });
    return { sha512: sha512.digest('hex'), contents: contents.digest() };
  } finally {
    await file.close();
  }
}

/**
 * The checksum of the contents. A file without blocks on the disk is not read, however long it is; a short one is, because some filesystems keep short
 * files without blocks.
 */
export async function contentsOf(
  file: DataFile,
  { bytes, occupiedBytes }: { readonly bytes: number; readonly occupiedBytes: number },
  signal: AbortSignal,
): Promise<string> {
  if (occupiedBytes === 0 && bytes > chunkBytes) return emptyContents;
  const contents = new ContentsHash();
  await readAll(file, signal, (chunk) => contents.add(chunk));
  return contents.digest();
}

async function readAll(
  file: DataFile,
  signal: AbortSignal,
  take: (chunk: Uint8Array) => void,
): Promise<void> {
  const buffer = Buffer.allocUnsafe(chunkBytes);
  for (let at = 0; ; ) {
    signal.throwIfAborted();
    const bytes = await file.read(buffer, at);
    if (bytes === 0) return;
    take(buffer.subarray(0, bytes));
    at += bytes;
  }
}
