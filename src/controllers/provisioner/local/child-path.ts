import { existsSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

/** Where the kernel shows the open files of this process; Node has no `openat`, and this works as well. */
const openFiles = '/proc/self/fd';
const canReachThroughHandle = process.platform === 'linux' && existsSync(openFiles);

/**
 * The path of `name` in an open directory. On Linux it leads through the handle, whatever has happened to the path
 * meanwhile; on other systems it is the plain path, protected only by the checks when the directory was opened.
 */
export function childOf(directory: FileHandle, path: string, name: string): string {
  return canReachThroughHandle ? `${openFiles}/${directory.fd}/${name}` : join(path, name);
}

/** The directory itself, for listing it. */
export function selfOf(directory: FileHandle, path: string): string {
  return canReachThroughHandle ? `${openFiles}/${directory.fd}` : path;
}
