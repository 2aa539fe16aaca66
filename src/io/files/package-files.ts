import { existsSync } from 'node:fs';

/**
 * A file of the package by its path from the package root. The program may run from `dist/` or a deeper directory,
 * where benchmarks and tests build it.
 */
export function packageFile(path: string): URL {
  let manifest = new URL('./package.json', import.meta.url);
  while (!existsSync(manifest) && manifest.pathname !== '/package.json')
    manifest = new URL('../package.json', manifest);
  return new URL(path, manifest);
}
