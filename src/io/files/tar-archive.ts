import { gzipSync } from 'node:zlib';
import { assert } from '../../runtime/assert.ts';

export interface ArchiveFile {
  /** Below 100 bytes, with slashes, without a leading one. */
  readonly path: string;
  readonly content: Buffer;
}

export interface TarOptions {
  /** The time of every file, so that equal files make equal archives. */
  readonly modifiedMs: number;
}

const blockBytes = 512;
const nameBytesMax = 100;

/** A tar archive of regular files in the order given, compressed by gzip. Equal files and times make equal archives. */
export function tarGz(files: readonly ArchiveFile[], { modifiedMs }: TarOptions): Buffer {
  const blocks = files.flatMap(({ path, content }) => [
    header(path, content.length, Math.floor(modifiedMs / 1000)),
    content,
    Buffer.alloc((blockBytes - (content.length % blockBytes)) % blockBytes),
  ]);
  // Two empty blocks are the end; gzip of Node writes no time and no name.
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * blockBytes)]), { level: 9 });
}

/** POSIX 1003.1-1990 (ustar): numbers are octal text. */
function header(path: string, bytes: number, modifiedSeconds: number): Buffer {
  assert(Buffer.byteLength(path) < nameBytesMax, `${path} is too long for the archive`);
  const block = Buffer.alloc(blockBytes);
  block.write(path, 0);
  block.write(octal(0o600, 7), 100);
  block.write(octal(0, 7), 108);
  block.write(octal(0, 7), 116);
  block.write(octal(bytes, 11), 124);
  block.write(octal(modifiedSeconds, 11), 136);
  // The checksum is computed with spaces in its own place.
  block.write(' '.repeat(8), 148);
  block.write('0', 156);
  block.write('ustar\u000000', 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\u0000 `, 148);
  return block;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}
