import { lstat, mkdir, realpath, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/*
 * Names and paths come from requests, and are hostile until they have been checked. A name must stay within its directory. A path is
 * resolved: symbolic links above it are followed once, here, and the last part must not be one, so that what is checked is what is used.
 */

const nameBytesMax = 255;
const pathBytesMax = 4095;

/** A name or path that must not be used. */
export class UnsafePathError extends Error {
  override readonly name = 'UnsafePathError';
}

/** Throws unless the name is the name of one directory entry. */
export function checkVolumeName(name: string): void {
  if (name === '' || /^\.{1,2}$|[/\p{Cc}]/u.test(name))
    throw new UnsafePathError(
      `the volume id ${JSON.stringify(name.slice(0, nameBytesMax))} must be a name without / and control characters`,
    );
  if (Buffer.byteLength(name) > nameBytesMax || !isUnicode(name))
    throw new UnsafePathError(`a volume id has at most ${nameBytesMax} bytes of UTF-8`);
}

/** Throws unless the path is absolute, and written in the one way that needs no interpretation. */
function checkPath(path: string): void {
  const parts = path.split('/').slice(1);
  const isPlain = path.startsWith('/') && parts.every((part) => part !== '' && part !== '.' && part !== '..');
  if (!isPlain || /\p{Cc}/u.test(path) || !isUnicode(path))
    throw new UnsafePathError(
      `the path ${JSON.stringify(path.slice(0, nameBytesMax))} must be absolute, without "..", "." and control characters`,
    );
  if (Buffer.byteLength(path) > pathBytesMax || parts.some((part) => Buffer.byteLength(part) > nameBytesMax))
    throw new UnsafePathError(
      `a path has at most ${pathBytesMax} bytes, and each of its parts ${nameBytesMax}`,
    );
}

/** Half of a surrogate pair has no UTF-8: different texts would become the same name. */
function isUnicode(text: string): boolean {
  return Buffer.from(text).toString() === text;
}

/** The path without symbolic links; undefined if the directory above it does not exist. `forbidden` is a directory that it must not be in. */
export async function resolvedTarget(path: string, forbidden: string): Promise<string | undefined> {
  checkPath(path.length > 1 ? path.replace(/\/$/, '') : path);
  try {
    const target = join(await realpath(dirname(path)), basename(path));
    const inside = await realpath(forbidden).catch(() => forbidden);
    if (`${target}/`.startsWith(`${inside}/`))
      throw new UnsafePathError(`the path ${path} must not be in ${forbidden}, which drives are mounted in`);
    if (await isSymbolicLink(target)) throw new UnsafePathError(`the path ${path} is a symbolic link`);
    return target;
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** A mount whose device no longer exists cannot be inspected; no link can be in its place. */
async function isSymbolicLink(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isSymbolicLink();
  } catch (error) {
    if (['ENOENT', 'EIO', 'ESTALE', 'ENODEV'].includes(codeOf(error))) return false;
    throw error;
  }
}

/** Makes the directory of a mount, if it is not there. */
export async function makeTarget(path: string): Promise<void> {
  try {
    await mkdir(path, 0o750);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    if (!(await lstat(path)).isDirectory()) throw new UnsafePathError(`the path ${path} is not a directory`);
  }
}

/** Removes the directory of a mount, if it is there. A directory with content stays, and is an error. */
export async function removeTarget(path: string): Promise<void> {
  try {
    await rmdir(path);
  } catch (error) {
    if (codeOf(error) === 'ENOTDIR') throw new UnsafePathError(`the path ${path} is not a directory`);
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}

/** The code of an error of the file system, such as `EIO`; empty for other errors. */
export function codeOf(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? code : '';
}
