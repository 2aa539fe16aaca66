/** The files that an image takes from Debian packages: programs, and the libraries that any file of the image loads. */
import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join, posix } from 'node:path';
import { programs } from './contents.mjs';
import { linkedLibraries } from './elf.mjs';
import { contentOf, FileTree } from './file-tree.mjs';

/** Debian's folders of programs and libraries outside of `usr` are links into it. */
const mergedFolders = ['bin', 'lib', 'lib64', 'sbin'];

export class DebianFiles {
  #tree = new FileTree();
  /** The package's name and the unpacked file, by the path in the image. */
  #available = new Map();
  /** Where each package's description is. */
  #controls = new Map();
  #used = new Set();
  #libraries;

  /** `packages` with `name` and `file`, the path of the downloaded package. They are unpacked below `folder`. */
  constructor(packages, folder, libraries) {
    this.#libraries = libraries;
    for (const { name, file } of packages) {
      const root = join(folder, name);
      const control = join(folder, `${name}.control`);
      mkdirSync(root, { recursive: true });
      execFileSync('dpkg-deb', ['--extract', file, root]);
      execFileSync('dpkg-deb', ['--control', file, control]);
      this.#controls.set(name, join(control, 'control'));
      for (const path of filesBelow(root))
        this.#available.set(merged(path), { name, source: join(root, path) });
    }
  }

  /** The programs, everything that they and the files of `others` load, and the names of the packages that have those files. */
  select(others) {
    for (const name of mergedFolders) this.#tree.link(name, `usr/${name}`);
    for (const path of programs) this.#add(path);
    for (const [path, entry] of others.flatMap((tree) => tree.entries())) {
      if (entry.kind === 'file') this.#addLibraries(path, contentOf(entry));
    }
    // A licence may be in another package, which is then used too.
    for (const name of this.#used) this.#addRecords(name);
    return { tree: this.#tree, packages: [...this.#used].sort() };
  }

  /** The file, the libraries that it links to, and those that it loads. */
  #add(path) {
    if (this.#tree.has(path)) return;
    const found = this.#available.get(path);
    if (found === undefined) throw missing(path);
    this.#used.add(found.name);
    this.#tree.copy(path, found.source);
    const target = linkTarget(path, found.source);
    if (target !== undefined) this.#add(target);
    else this.#addLibraries(path, readFileSync(found.source));
  }

  #addLibraries(path, content) {
    const linked = linkedLibraries(content);
    if (linked === undefined) return;
    if (linked.interpreter !== undefined) this.#add(merged(linked.interpreter.slice(1)));
    for (const name of linked.needed) {
      const folders = [this.#libraries, 'usr/lib'];
      const found = folders.map((folder) => join(folder, name)).find((path) => this.#available.has(path));
      if (found === undefined) throw missing(`${name}, which ${path} loads,`);
      this.#add(found);
    }
  }

  /** The licence, and what scanners of images look for where dpkg has no database: the description of the package. */
  #addRecords(name) {
    this.#tree.copy(`var/lib/dpkg/status.d/${name}`, this.#controls.get(name));
    const folder = join('usr/share/doc', name);
    const shared = this.#available.get(folder);
    if (shared === undefined) return this.#add(join(folder, 'copyright'));
    // The folder is a link to that of a package with the same licence.
    this.#tree.copy(folder, shared.source);
    this.#add(join(linkTarget(folder, shared.source), 'copyright'));
  }
}

function missing(what) {
  return new Error(
    `${what} is in no package; add the one that has it to scripts/image/contents.mjs, and run npm run image:lock`,
  );
}

function filesBelow(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(folder.length + 1));
}

function merged(path) {
  return mergedFolders.includes(path.split('/')[0]) ? `usr/${path}` : path;
}

/** Undefined if it is not a link. */
function linkTarget(path, source) {
  if (!lstatSync(source).isSymbolicLink()) return undefined;
  const target = readlinkSync(source);
  return merged(target.startsWith('/') ? target.slice(1) : posix.join(posix.dirname(path), target));
}
