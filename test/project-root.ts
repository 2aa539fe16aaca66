import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root folder of the checkout, also for code that was compiled into `build/`: other files stay where they are. */
export const projectRoot = nearestPackage(dirname(fileURLToPath(import.meta.url)));

function nearestPackage(folder: string): string {
  const isFound = existsSync(join(folder, 'package.json')) || folder === dirname(folder);
  return isFound ? folder : nearestPackage(dirname(folder));
}
