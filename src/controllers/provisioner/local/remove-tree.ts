import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir, rename, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { childOf, selfOf } from './child-path.ts';

const directoryOnly = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Each level holds a file descriptor; deeper directories are moved up first. */
const depthMax = 32;

/**
 * Removes `name` in `parent` with its content. Links are removed, never followed; other file systems that are mounted in
 * the tree are not entered. Continues after an interruption, and ignores what others removed meanwhile.
 */
export async function removeTree(parent: FileHandle, parentPath: string, name: string): Promise<void> {
  const { dev } = await parent.stat();
  const path = join(parentPath, name);
  if (await isLeaf(childOf(parent, parentPath, name))) {
    await unlinkIfThere(childOf(parent, parentPath, name));
    return;
  }
  const top = await openIfThere(childOf(parent, parentPath, name));
  if (top === undefined) return;
  try {
    const task: Task = { dev, top, topPath: path, moved: { count: 0 } };
    while (await hasEntries(top, path)) await empty(top, path, task, 1);
  } finally {
    await top.close();
  }
  await rmdir(childOf(parent, parentPath, name)).catch(unlessGone);
}

interface Task {
  readonly dev: number;
  readonly top: FileHandle;
  readonly topPath: string;
  readonly moved: { count: number };
}

/** Empties a directory, except for parts that were too deep and are now at the top. */
async function empty(directory: FileHandle, path: string, task: Task, depth: number): Promise<void> {
  if ((await directory.stat()).dev !== task.dev)
    throw new Error(`${path} is a mount point; unmount it first`);
  for (const name of await readdir(selfOf(directory, path))) {
    const child = childOf(directory, path, name);
    if (await isLeaf(child)) await unlinkIfThere(child);
    else if (depth >= depthMax) await moveUp(child, task);
    else await removeDirectory(child, join(path, name), task, depth + 1);
  }
}

async function removeDirectory(child: string, path: string, task: Task, depth: number): Promise<void> {
  const directory = await openIfThere(child);
  if (directory === undefined) return;
  try {
    await empty(directory, path, task, depth);
  } finally {
    await directory.close();
  }
  await rmdir(child).catch(unlessGone);
}

async function moveUp(child: string, { top, topPath, moved }: Task): Promise<void> {
  const taken = new Set(await readdir(selfOf(top, topPath)));
  while (taken.has(`deep-${moved.count}`)) moved.count += 1;
  await rename(child, childOf(top, topPath, `deep-${moved.count}`)).catch(unlessGone);
  moved.count += 1;
}

async function hasEntries(directory: FileHandle, path: string): Promise<boolean> {
  return (await readdir(selfOf(directory, path))).length > 0;
}

/** Whether it has to be unlinked: anything but a directory, including links to directories. */
async function isLeaf(path: string): Promise<boolean> {
  const found = await lstat(path).catch(unlessGone);
  return found !== undefined && !found.isDirectory();
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  return await open(path, directoryOnly).catch(unlessGone);
}

async function unlinkIfThere(path: string): Promise<void> {
  await unlink(path).catch(unlessGone);
}

function unlessGone(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  return undefined;
}
