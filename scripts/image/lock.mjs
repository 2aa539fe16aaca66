/** The exact inputs of the image that do not come from `package-lock.json`. `npm run image:lock` writes them. */
import { readFileSync } from 'node:fs';

export const lockFile = new URL('lock.json', import.meta.url);

/**
 * `date`: the time of every file. `node`: its version, and the integrity of its npm package by processor. `debian`: by architecture, the
 * name, version, URL and SHA-256 of each package.
 */
export function readLock() {
  return JSON.parse(readFileSync(lockFile, 'utf8'));
}
