import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { makeDirectory } from '../../io/files/make-directory.ts';

/** Compiled code by the name of its script. */
export type CompiledCode = ReadonlyMap<string, Buffer>;

/** Checksum and length of the index, each an unsigned 32-bit number. */
const headerBytes = 8;
/** V8 copies code that does not start at a multiple of this. */
const alignment = 8;
const keptMs = 30 * 24 * 3_600_000;

/** The code in a file. None if there is no such file, or if V8 must not run what is in it. */
export function readCodeCache(path: string): CompiledCode {
  try {
    const file = openSync(path, 'r');
    try {
      const { uid, mode } = fstatSync(file);
      const isOurs = process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
      return (isOurs && decodeCodeCache(readFileSync(file))) || new Map();
    } finally {
      closeSync(file);
    }
  } catch {
    return new Map();
  }
}

/** Replaces the file as a whole. Throws if that is not possible, for example in a read-only file system. */
export function writeCodeCache(path: string, code: CompiledCode): void {
  makeDirectory(dirname(path), 0o700);
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    writeFileSync(temporary, encodeCodeCache(code), { flag: 'wx', mode: 0o600 });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Removes files that no process has written for a month, for all versions: `folder` has a directory for each. `nowMs` is the time. */
export function removeOldCodeCaches(folder: string, nowMs: number): void {
  for (const version of readdirSync(folder)) {
    const files = readdirSync(join(folder, version)).map((name) => join(folder, version, name));
    const old = files.filter(
      (file) => nowMs - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? nowMs) > keptMs,
    );
    for (const file of old) rmSync(file, { force: true });
    if (files.length > 0 && old.length === files.length)
      rmSync(join(folder, version), { recursive: true, force: true });
  }
}

/** The checksum is for a machine that stopped before it had written the whole file: V8 does not check the code. */
export function encodeCodeCache(code: CompiledCode): Buffer {
  const index = Buffer.from(JSON.stringify([...code].map(([name, { length }]) => [name, length])));
  const header = Buffer.alloc(headerBytes);
  header.writeUInt32LE(index.length, 4);
  const parts = [Buffer.concat([header, index]), ...code.values()];
  const file = Buffer.concat(
    parts.flatMap((part) => [part, Buffer.alloc(paddedBytes(part.length) - part.length)]),
  );
  file.writeUInt32LE(crc32(file.subarray(4)), 0);
  return file;
}

export function decodeCodeCache(file: Buffer): CompiledCode | undefined {
  if (file.length < headerBytes || file.readUInt32LE(0) !== crc32(file.subarray(4))) return undefined;
  const indexEnd = headerBytes + file.readUInt32LE(4);
  const index = JSON.parse(file.toString('utf8', headerBytes, indexEnd)) as [string, number][];
  let start = paddedBytes(indexEnd);
  return new Map(
    index.map(([name, length]) => {
      const code = file.subarray(start, start + length);
      start += paddedBytes(length);
      return [name, code];
    }),
  );
}

function paddedBytes(length: number): number {
  return Math.ceil(length / alignment) * alignment;
}
