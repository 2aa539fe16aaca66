import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DamagedData } from './store-error.ts';

/**
 * Throws if LMDB could not open or create the file. This must be checked before: if lmdb-js cannot open a file, it does
 * not always throw but may end the process with a segmentation fault.
 */
export function checkLmdbFile(path: string): void {
  for (const file of [path, `${path}-lock`]) {
    if (existsSync(file)) accessSync(file, constants.R_OK | constants.W_OK);
  }
  if (existsSync(path) && statSync(path).size > 0) checkHeader(path);
  else checkSpace(dirname(path));
}

/** Layout of the first page: a header of 24 bytes, a magic number, the format version, and at 48 the page size. */
const magicOffset = 24;
const magic = 0xbeefc0de;
const layoutVersion = 2;

function checkHeader(path: string): void {
  const header = Buffer.alloc(64);
  const file = openSync(path, 'r');
  try {
    readSync(file, header, 0, header.length, 0);
  } finally {
    closeSync(file);
  }
  const isKnown =
    header.readUInt32LE(magicOffset) === magic && header.readUInt16LE(magicOffset + 4) === layoutVersion;
  const isWhole = statSync(path).size >= 2 * header.readUInt32LE(48);
  if (!isKnown || !isWhole) throw new DamagedData(`${path} is damaged or was made by another program`);
}

/** More than the first pages of a new file need. */
const newFileBytes = 2 ** 17;

function checkSpace(directory: string): void {
  const path = join(directory, 'is-there-space');
  const file = openSync(path, 'w', 0o600);
  try {
    const written = writeSync(file, Buffer.alloc(newFileBytes));
    if (written < newFileBytes) throw new Error('the disk is full');
  } finally {
    closeSync(file);
    rmSync(path, { force: true });
  }
}
