import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, realpath } from 'node:fs/promises';
import { basename, dirname, join, parse, resolve } from 'node:path';
import { childOf } from './child-path.ts';
import { removeTree } from './remove-tree.ts';

/** Reads a directory and nothing else: a symbolic link in its place makes `open` fail. */
const directoryOnly = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const privateMode = 0o700;
const uidPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * The directory that contains the local volumes, each a subdirectory named after the uid of its claim and nothing else.
 *
 * The content of a volume is untrusted, and the parents of the root may change at any time. So a name is accepted
 * only if it is a uid; the root is opened once for each task, checked to be at its place, and kept open; and everything in it is
 * reached through the open handle, never through a path that could lead elsewhere by now. No symbolic link is followed.
 */
export class LocalRoot {
  readonly #path: string;
  /** The real path of the root, once it is known. */
  #real: string | undefined;

  constructor(path: string) {
    this.#path = resolve(path);
  }

  /** Creates the volume's directory if it does not exist. Returns its path. */
  async create(claimUid: string): Promise<string> {
    const name = nameFor(claimUid);
    // If anything else has that name, opening it fails.
    await mkdir(this.#path, { recursive: true, mode: privateMode }).catch(unlessCode('EEXIST'));
    return await this.#inside(async (root, real) => {
      await mkdir(childOf(root, real, name), { mode: privateMode }).catch(unlessCode('EEXIST'));
      const { dev } = await root.stat();
      const made = await lstat(childOf(root, real, name));
      if (!made.isDirectory())
        throw new LocalRootError(`${join(real, name)} exists and is not a directory; remove it`);
      if (made.dev !== dev) throw new LocalRootError(`${join(real, name)} is a mount point; unmount it`);
      return join(real, name);
    });
  }

  /** Removes the volume's directory with its content; does nothing if it does not exist. */
  async remove(claimUid: string): Promise<void> {
    const name = nameFor(claimUid);
    const hasRoot = await lstat(this.#path).then(() => true, unlessCode('ENOENT'));
    if (hasRoot === undefined) return;
    await this.#inside((root, real) => removeTree(root, real, name));
  }

  /** The path of the volume, whether it exists or not. */
  async pathFor(claimUid: string): Promise<string> {
    return join(await this.#realPath(), nameFor(claimUid));
  }

  /** Links on the way to the root belong to the administrator; but they must not change, and the root itself must not be a link. */
  async #realPath(): Promise<string> {
    if (this.#path === parse(this.#path).root)
      throw new LocalRootError(`${this.#path} is the root of the file system; choose another`);
    const parent = await realpath(dirname(this.#path));
    const real = join(parent, basename(this.#path));
    this.#real ??= real;
    if (real !== this.#real)
      throw new LocalRootError(
        `${this.#path} now leads to ${real}, not to ${this.#real}; restore it, or restart stowage`,
      );
    return real;
  }

  async #inside<T>(task: (root: FileHandle, real: string) => Promise<T>): Promise<T> {
    const real = await this.#realPath();
    const root = await open(real, directoryOnly).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ELOOP' && error.code !== 'ENOTDIR') throw error;
      throw new LocalRootError(`${real} is not a directory, or is a link to one; use the directory itself`);
    });
    try {
      return await task(root, real);
    } finally {
      await root.close();
    }
  }
}

export class LocalRootError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'LocalRootError';
  }
}

function nameFor(claimUid: string): string {
  if (!uidPattern.test(claimUid))
    throw new LocalRootError(`${JSON.stringify(claimUid)} is not the uid of a claim`);
  return `pvc-${claimUid}`;
}

/** For `catch`: undefined for errors with this code. */
function unlessCode(code: string): (error: unknown) => undefined {
  return (error) => {
    if ((error as NodeJS.ErrnoException).code !== code) throw error;
    return undefined;
  };
}
