import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Creates a directory and its missing parents. Returns whether any was missing.
 *
 * Node's recursive mkdir never returns on a file system that reports the new directory as missing, as /proc does, and
 * reports a read-only file system as "not found".
 */
export function makeDirectory(path: string, mode = 0o777): boolean {
  const missing: string[] = [];
  for (let at = resolve(path); !exists(at); at = dirname(at)) missing.unshift(at);
  for (const each of missing) makeIfMissing(each, mode);
  // Fails with a clear error if the path is a file.
  if (!statSync(path).isDirectory()) mkdirSync(path);
  return missing.length > 0;
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Another process may have created it first. */
function makeIfMissing(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
