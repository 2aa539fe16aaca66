import { closeSync, openSync, readSync, statSync, truncateSync, writeSync } from 'node:fs';
import type { Random } from '../../../src/runtime/random.ts';

/** The page size of the store, and the sector size of most disks: what a disk writes at once or not at all. */
const pageBytes = 8192;
const sectorBytes = 512;
/** Half of the damages hit the first pages, where LMDB's file header and in a small file most of the tree are. */
const startBytes = 6 * pageBytes;

/** Damages a file at random, and says how. */
export function damageFile(path: string, random: Random): string {
  return random.pick([flipBits, flipBits, cut, tearPage, zeroSectors, moveSector])(path, random);
}

function flipBits(path: string, random: Random): string {
  const count = random.pick([1, 1, 1, 2, 8]);
  const flips = Array.from({ length: count }, () => {
    const at = drawOffset(path, random);
    const bit = random.int(8);
    overwrite(path, at, Buffer.from([read(path, at, 1)[0]! ^ (1 << bit)]));
    return `${at}.${bit}`;
  });
  return `flipped bits ${flips.join(', ')}`;
}

function cut(path: string, random: Random): string {
  const length = drawOffset(path, random);
  truncateSync(path, length);
  return `cut to ${length} bytes`;
}

/** The end of a page is what the page after it has: the disk wrote only some sectors of it. */
function tearPage(path: string, random: Random): string {
  const page = Math.floor(drawOffset(path, random) / pageBytes);
  const at = page * pageBytes + sectorBytes * (1 + random.int(pageBytes / sectorBytes - 1));
  const other = Math.floor(drawOffset(path, random) / pageBytes) * pageBytes + (at % pageBytes);
  const length = (page + 1) * pageBytes - at;
  overwrite(path, at, read(path, other, length));
  return `tore page ${page} at ${at % pageBytes}`;
}

function zeroSectors(path: string, random: Random): string {
  const at = Math.floor(drawOffset(path, random) / sectorBytes) * sectorBytes;
  const length = sectorBytes * random.pick([1, 2, 16]);
  overwrite(path, at, Buffer.alloc(Math.min(length, statSync(path).size - at)));
  return `zeroed ${length} bytes at ${at}`;
}

/** A sector that was written to the wrong place. */
function moveSector(path: string, random: Random): string {
  const [from, to] = [0, 1].map(() => Math.floor(drawOffset(path, random) / sectorBytes) * sectorBytes);
  overwrite(path, to!, read(path, from!, sectorBytes));
  return `copied the sector at ${from} to ${to}`;
}

function drawOffset(path: string, random: Random): number {
  const { size } = statSync(path);
  return random.int(random.int(2) === 0 ? Math.min(size, startBytes) : size);
}

function read(path: string, at: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  withFile(path, 'r', (file) => readSync(file, bytes, 0, length, at));
  return bytes;
}

function overwrite(path: string, at: number, bytes: Buffer): void {
  withFile(path, 'r+', (file) => writeSync(file, bytes, 0, bytes.length, at));
}

function withFile(path: string, flags: string, use: (file: number) => void): void {
  const file = openSync(path, flags);
  try {
    use(file);
  } finally {
    closeSync(file);
  }
}
