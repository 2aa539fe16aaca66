import { constants } from 'node:fs';
import { chmod, lstat, mkdir, open, readdir, realpath, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from './run-program.ts';
import { checkVolumeName, codeOf, UnsafePathError } from './safe-paths.ts';

/** Names below the mount of a drive. */
const activeFolder = 'volumes';
const deletedFolder = 'deleted';

/**
 * The directories of the volumes on a mounted drive. `volumes/NAME` has the data of a volume; `deleted/NAME` has what is to be removed, and
 * what is not ready yet: a new directory is made there and renamed when its quota is set, so that a crash leaves nothing half made in
 * `volumes`. Only root can enter either folder from the outside.
 *
 * Renames and removals are on the disk before a method resolves: the ledger in the API server, which is written afterwards, never says less
 * than the disk.
 */
export class VolumeDirectories {
  readonly #run: typeof runProgram;

  constructor(run: typeof runProgram = runProgram) {
    this.#run = run;
  }

  /** Makes the two folders. Call it after each mount. */
  async prepare(mount: string): Promise<void> {
    for (const folder of [activeFolder, deletedFolder]) {
      await mkdir(join(mount, folder), 0o700).catch(ignoring('EEXIST'));
      await checkedFolder(mount, folder);
    }
  }

  /** Whether the drive has neither volumes nor remains of them. */
  async isEmpty(mount: string): Promise<boolean> {
    const names = await Promise.all(
      [activeFolder, deletedFolder].map((folder) => readdir(join(mount, folder))),
    );
    return names.every((list) => list.length === 0);
  }

  /** The directories in `volumes`. */
  async names(mount: string): Promise<readonly string[]> {
    return await readdir(join(mount, activeFolder));
  }

  /** The directories in `deleted`. */
  async remains(mount: string): Promise<readonly string[]> {
    return await readdir(join(mount, deletedFolder));
  }

  /** The directory of a volume; undefined if it has none. */
  async find(mount: string, volume: string): Promise<string | undefined> {
    return await existing(mount, activeFolder, volume);
  }

  /** Makes an empty directory for a new volume, outside of `volumes`. Remains of an earlier attempt are removed. */
  async begin(mount: string, volume: string): Promise<string> {
    await this.remove(mount, volume);
    const path = join(await checkedFolder(mount, deletedFolder), volume);
    await mkdir(path, 0o700);
    // Containers run as any user. On the host only root can enter the folder above.
    await chmod(path, 0o777);
    return path;
  }

  /** Moves what `begin` made to its place. */
  async finish(mount: string, volume: string): Promise<string> {
    return await move(mount, volume, deletedFolder, activeFolder);
  }

  /** Moves the directory of a volume that is being deleted; returns where it is now, or undefined if nothing is left of the volume. */
  async retire(mount: string, volume: string): Promise<string | undefined> {
    if ((await this.find(mount, volume)) !== undefined) {
      await this.remove(mount, volume);
      return await move(mount, volume, activeFolder, deletedFolder);
    }
    return await existing(mount, deletedFolder, volume);
  }

  /** Removes what `retire` moved. Trees may be deeper than a path can be long, and names need not be UTF-8: rm(1) removes them all. */
  async remove(mount: string, volume: string): Promise<void> {
    const path = await existing(mount, deletedFolder, volume);
    if (path === undefined) return;
    await this.#run('rm', ['-rf', '--', path], { runMsMax: 0 });
    await persist(join(mount, deletedFolder));
  }
}

async function move(mount: string, volume: string, from: string, to: string): Promise<string> {
  const source = join(await checkedFolder(mount, from), volume);
  const target = join(await checkedFolder(mount, to), volume);
  await rename(source, target);
  for (const folder of [to, from]) await persist(join(mount, folder));
  return target;
}

async function existing(mount: string, folder: string, volume: string): Promise<string | undefined> {
  checkVolumeName(volume);
  const path = join(await checkedFolder(mount, folder), volume);
  const found = await lstat(path).catch(ignoring('ENOENT'));
  if (found === undefined) return undefined;
  if (!found.isDirectory())
    throw new UnsafePathError(`${path} is not a directory; remove it, and look who made it`);
  return path;
}

/** The path of a folder of the drive, after a check that it is on this filesystem and that no link leads elsewhere. */
async function checkedFolder(mount: string, folder: string): Promise<string> {
  const path = join(mount, folder);
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
  let handle: Awaited<ReturnType<typeof open>>;
  try {
    handle = await open(path, flags);
  } catch (error) {
    if (['ELOOP', 'ENOTDIR'].includes(codeOf(error)))
      throw new UnsafePathError(`${path} is not a directory; remove it, and look who made it`, {
        cause: error,
      });
    throw error;
  }
  try {
    const [own, above] = [await handle.stat(), await lstat(mount)];
    if (own.dev !== above.dev || (await realpath(path)) !== join(await realpath(mount), folder))
      throw new UnsafePathError(`${path} is not a directory of the drive's own filesystem`);
    return path;
  } finally {
    await handle.close();
  }
}

/** A rename or removal is on the disk when the folder has been synchronized. */
async function persist(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function ignoring(code: string): (error: unknown) => undefined {
  return (error) => {
    if (codeOf(error) !== code) throw error;
    return undefined;
  };
}
