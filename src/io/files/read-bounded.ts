import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** The file has more bytes than the caller reads. */
export class FileTooLarge extends Error {
  override readonly name = 'FileTooLarge';
}

const chunkBytes = 2 ** 20;

/** The text of a file, pipe or device, in UTF-8; throws `FileTooLarge` if it has more than `bytesMax` bytes. A device may never end. */
export function readBounded(file: string | number, bytesMax: number): string {
  const handle = typeof file === 'number' ? file : openSync(file, 'r');
  try {
    if (fstatSync(handle).size > bytesMax) throw new FileTooLarge();
    return Buffer.concat([...chunksOf(handle, bytesMax)]).toString('utf8');
  } finally {
    if (handle !== file) closeSync(handle);
  }
}

function* chunksOf(handle: number, bytesMax: number): Iterable<Uint8Array> {
  for (let total = 0; ; ) {
    const chunk = Buffer.allocUnsafe(chunkBytes);
    const read = readSync(handle, chunk);
    if (read === 0) return;
    total += read;
    if (total > bytesMax) throw new FileTooLarge();
    yield chunk.subarray(0, read);
  }
}
