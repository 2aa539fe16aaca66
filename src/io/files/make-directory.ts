import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Makes a directory with all those above it that are missing. Answers whether it had to.
 *
 * Node's own way to do that does not end where a file system says that a directory is not there which is to be made, as /proc does,
 * and tells of a read-only one that a directory was not found.
 */
export function makeDirectory(path: string, mode = 0o777): boolean {
  const missing: string[] = [];
  for (let at = resolve(path); !isThere(at); at = dirname(at)) missing.unshift(at);
  for (const each of missing) makeUnlessThere(each, mode);
  // Fails, and says so, where that is a file.
  if (!statSync(path).isDirectory()) mkdirSync(path);
  return missing.length > 0;
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Somebody else may have been first. */
function makeUnlessThere(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
