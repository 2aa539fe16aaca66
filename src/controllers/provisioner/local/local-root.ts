import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, realpath } from 'node:fs/promises';
import { basename, dirname, join, parse, resolve } from 'node:path';
import { childOf } from './child-path.ts';
import { removeTree } from './remove-tree.ts';

/** Reading a directory and nothing else: a symbolic link in its place makes `open` fail. */
const directoryOnly = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const privateMode = 0o700;
const uidPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * The one directory in which local volumes are, each a directory in it that is called after the uid of its claim and nothing else.
 *
 * What is inside a volume was written by strangers, and what is around the root may change while we look. So a name is taken
 * only if it is a uid; the root is opened once for each task, found to be where it was, and held; and everything in it is
 * reached through what is held, never through a path that could lead elsewhere by now. No symbolic link is followed.
 */
export class LocalRoot {
  readonly #path: string;
  /** Where the root really is, once it was seen. */
  #real: string | undefined;

  constructor(path: string) {
    this.#path = resolve(path);
  }

  /** Makes the volume's directory, or finds it there. The path of it. */
  async make(claimUid: string): Promise<string> {
    const name = nameFor(claimUid);
    // Whatever else has that name is found out when it is opened.
    await mkdir(this.#path, { recursive: true, mode: privateMode }).catch(unlessCode('EEXIST'));
    return await this.#inside(async (root, real) => {
      await mkdir(childOf(root, real, name), { mode: privateMode }).catch(unlessCode('EEXIST'));
      const { dev } = await root.stat();
      const made = await lstat(childOf(root, real, name));
      if (!made.isDirectory())
        throw new LocalRootError(`${join(real, name)} is in the way: it is not a directory`);
      if (made.dev !== dev) throw new LocalRootError(`${join(real, name)} is a mount point; unmount it`);
      return join(real, name);
    });
  }

  /** Removes the volume's directory with all that is in it; one that isn't there is removed already. */
  async remove(claimUid: string): Promise<void> {
    const name = nameFor(claimUid);
    const hasRoot = await lstat(this.#path).then(() => true, unlessCode('ENOENT'));
    if (hasRoot === undefined) return;
    await this.#inside((root, real) => removeTree(root, real, name));
  }

  /** Where the volume is, or would be. */
  async pathFor(claimUid: string): Promise<string> {
    return join(await this.#realPath(), nameFor(claimUid));
  }

  /** Links on the way to the root are an administrator's business; but they stay, and the root itself is none. */
  async #realPath(): Promise<string> {
    if (this.#path === parse(this.#path).root)
      throw new LocalRootError(`${this.#path} is the root of the file system; choose another`);
    const parent = await realpath(dirname(this.#path));
    const real = join(parent, basename(this.#path));
    this.#real ??= real;
    if (real !== this.#real)
      throw new LocalRootError(
        `${this.#path} now leads to ${real}, not to ${this.#real}; put it back, or start again`,
      );
    return real;
  }

  async #inside<T>(task: (root: FileHandle, real: string) => Promise<T>): Promise<T> {
    const real = await this.#realPath();
    const root = await open(real, directoryOnly).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ELOOP' && error.code !== 'ENOTDIR') throw error;
      throw new LocalRootError(`${real} is not a directory, or a link to one; give the directory itself`);
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

/** For `catch`: undefined for this one kind of failure. */
function unlessCode(code: string): (error: unknown) => undefined {
  return (error) => {
    if ((error as NodeJS.ErrnoException).code !== code) throw error;
    return undefined;
  };
}
