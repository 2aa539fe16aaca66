import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the checkout, also for what was compiled into `build/`: files that are not code lie where they were written. */
export const projectRoot = nearestPackage(dirname(fileURLToPath(import.meta.url)));

function nearestPackage(folder: string): string {
  const isFound = existsSync(join(folder, 'package.json')) || folder === dirname(folder);
  return isFound ? folder : nearestPackage(dirname(folder));
}
