/** The files of an image or of one of its layers, before they are written. All belong to root, and no file gives its rights to other users. */
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join, posix } from 'node:path';

/** All may read, and run what the owner may run: the rights that a umask left on this machine do not matter. No setuid, no setgid, no writing by others. */
const modeOf = (mode) => ((mode & 0o100) === 0 ? 0o644 : 0o755);

/**
 * Entries by path, without a leading `/`. An entry is a folder (`{ kind: 'folder', mode }`), a link (`{ kind: 'link', target }`) or a file
 * (`{ kind: 'file', mode, content }` or, if it is on this machine's disk, `{ kind: 'file', mode, source }`).
 */
export class FileTree {
  #entries = new Map();

  folder(path, mode = 0o755) {
    this.#add(path, { kind: 'folder', mode });
  }

  link(path, target) {
    this.#add(path, { kind: 'link', target });
  }

  file(path, content, mode = 0o644) {
    this.#add(path, { kind: 'file', mode, content: Buffer.from(content) });
  }

  /** A file or a link of this machine. */
  copy(path, source) {
    const { mode } = lstatSync(source);
    if (lstatSync(source).isSymbolicLink()) this.link(path, readlinkSync(source));
    else this.#add(path, { kind: 'file', mode: modeOf(mode), source });
  }

  /** Everything in a folder of this machine for which `includes` is true. */
  copyFolder(path, source, includes = () => true) {
    for (const entry of readdirSync(source, { withFileTypes: true })) {
      const from = join(source, entry.name);
      const to = posix.join(path, entry.name);
      if (!includes(to)) continue;
      if (entry.isDirectory()) this.copyFolder(to, from, includes);
      else this.copy(to, from);
    }
  }

  has(path) {
    return this.#entries.has(path);
  }

  /** Sorted, parents before children: the same files make the same archive. */
  entries() {
    return [...this.#entries].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  #add(path, entry) {
    const existing = this.#entries.get(path);
    if (existing !== undefined && existing.kind !== 'folder') throw new Error(`two files are to be ${path}`);
    const parent = posix.dirname(path);
    if (parent !== '.' && !this.#entries.has(parent)) this.folder(parent);
    this.#entries.set(path, entry);
  }
}

export function contentOf(entry) {
  return entry.content ?? readFileSync(entry.source);
}
