/**
 * Writes a tar archive of which every byte is determined by its entries: no times, users or groups of this machine. The format is POSIX
 * ustar; longer names are in an extended header.
 */
import { createHash } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { contentOf } from './file-tree.mjs';

const blockBytes = 512;
const nameBytesMax = 100;
const types = { file: '0', link: '2', folder: '5', extended: 'x' };

/** Writes the entries, which are as those of a FileTree, to `path`. The SHA-256 and the size of the archive. */
export function writeTar(path, entries, mtimeSeconds) {
  const archive = new TarFile(path, mtimeSeconds);
  for (const [name, entry] of entries) archive.add(name, entry);
  return archive.end();
}

class TarFile {
  #file;
  #hash = createHash('sha256');
  #size = 0;
  #mtimeSeconds;

  constructor(path, mtimeSeconds) {
    this.#file = openSync(path, 'w');
    this.#mtimeSeconds = mtimeSeconds;
  }

  add(name, entry) {
    const path = entry.kind === 'folder' ? `${name}/` : name;
    const target = entry.target ?? '';
    const content = entry.kind === 'file' ? contentOf(entry) : Buffer.alloc(0);
    const records = { path: tooLong(path), linkpath: tooLong(target) };
    const extended = Object.entries(records)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => paxRecord(key, value));
    if (extended.length > 0)
      this.#append('extended', 'PaxHeaders', { content: Buffer.from(extended.join('')) });
    const mode = entry.mode ?? 0o777;
    this.#append(entry.kind, cut(path), { content, mode, target: cut(target) });
  }

  end() {
    // Two empty blocks end an archive; tar pads it to ten thousand bytes and more, which readers do not need.
    this.#write(Buffer.alloc(2 * blockBytes));
    closeSync(this.#file);
    return { sha256: this.#hash.digest('hex'), size: this.#size };
  }

  #append(kind, name, { content, mode = 0o644, target = '' }) {
    this.#write(header({ kind, name, mode, target, size: content.length, mtimeSeconds: this.#mtimeSeconds }));
    this.#write(content);
    this.#write(Buffer.alloc(-content.length & (blockBytes - 1)));
  }

  #write(bytes) {
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at);
    this.#hash.update(bytes);
    this.#size += bytes.length;
  }
}

function header({ kind, name, mode, target, size, mtimeSeconds }) {
  const block = Buffer.alloc(blockBytes);
  const octal = (at, length, value) =>
    block.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at, 'latin1');
  block.write(name, 0);
  octal(100, 8, mode);
  octal(108, 8, 0); // user
  octal(116, 8, 0); // group
  octal(124, 12, size);
  octal(136, 12, mtimeSeconds);
  block.write('        ', 148); // the checksum counts as spaces
  block.write(types[kind], 156);
  block.write(target, 157);
  block.write('ustar\x0000', 257, 'latin1');
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

/** `LENGTH KEY=VALUE\n`; the length counts its own digits. */
function paxRecord(key, value) {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest + 1;
  while (length !== rest + `${length}`.length) length = rest + `${length}`.length;
  return `${length} ${key}=${value}\n`;
}

function tooLong(text) {
  return Buffer.byteLength(text) > nameBytesMax ? text : undefined;
}

/** What a reader without extended headers would see. */
function cut(text) {
  return Buffer.from(text).subarray(0, nameBytesMax).toString('latin1');
}
