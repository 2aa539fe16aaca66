import { existsSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

/** Where the kernel shows what this process has open; Node has no `openat`, and this is as good. */
const openFiles = '/proc/self/fd';
const canReachThroughHandle = process.platform === 'linux' && existsSync(openFiles);

/**
 * The path of `name` in a directory that is held open. On Linux it leads through the handle, whatever has become of the path
 * meanwhile; elsewhere it is the plain path, and only the checks of whoever opened it protect it.
 */
export function childOf(directory: FileHandle, path: string, name: string): string {
  return canReachThroughHandle ? `${openFiles}/${directory.fd}/${name}` : join(path, name);
}

/** The directory itself, for listing it. */
export function selfOf(directory: FileHandle, path: string): string {
  return canReachThroughHandle ? `${openFiles}/${directory.fd}` : path;
}
