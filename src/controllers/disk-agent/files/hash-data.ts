import { createHash } from 'node:crypto';
import type { DataFolder } from './data-folder.ts';
import type { DataFile } from './host-files.ts';

const chunkBytes = 2 ** 20;

/** The SHA-512 of the data that is on its way, as the disk returns it, in hexadecimal digits as sha512sum prints them. */
export async function sha512OfPart(folder: DataFolder, signal: AbortSignal): Promise<string> {
  const file = await folder.openPart();
  try {
    return await sha512Of(file, signal);
  } finally {
    await file.close();
  }
}

async function sha512Of(file: DataFile, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha512');
  const buffer = Buffer.allocUnsafe(chunkBytes);
  for (let at = 0; ; ) {
    signal.throwIfAborted();
    const bytes = await file.read(buffer, at);
    if (bytes === 0) return hash.digest('hex');
    hash.update(buffer.subarray(0, bytes));
    at += bytes;
  }
}
