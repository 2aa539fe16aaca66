import { getSystemErrorName } from 'node:util';

const reasons: ReadonlyMap<unknown, string> = new Map([
  ['EACCES', 'no permission to read and write it'],
  ['EPERM', 'no permission to read and write it'],
  ['ENOENT', 'it, or its directory, does not exist'],
  ['EISDIR', 'it is a directory'],
  ['EEXIST', 'it is not a directory'],
  ['ENOTDIR', 'part of its path is not a directory'],
  ['EROFS', 'its file system is read-only'],
  ['ENOSPC', 'the disk is full'],
  ['EDQUOT', 'the disk quota is used up'],
  ['EFBIG', 'files may not grow any more (ulimit -f)'],
  ['ENAMETOOLONG', 'its name is too long'],
]);

/** A readable reason for a file system error. */
export function fileSystemReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return reasons.get(errorName(error)) ?? error.message;
}

/** Whether a write failed because no space is left for it. */
export function isDiskFull(error: unknown): boolean {
  return error instanceof Error && noSpace.has(errorName(error));
}

const noSpace: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** Node identifies errors by name, LMDB by number. */
function errorName(error: Error): unknown {
  const code = 'code' in error ? error.code : undefined;
  return typeof code === 'number' && code > 0 ? getSystemErrorName(-code) : code;
}
