import { existsSync } from 'node:fs';

/** A file of the package, by its path from the root: the program may lie in `dist/`, or deeper where benchmarks and tests build it. */
export function packageFile(path: string): URL {
  let manifest = new URL('./package.json', import.meta.url);
  while (!existsSync(manifest) && manifest.pathname !== '/package.json')
    manifest = new URL('../package.json', manifest);
  return new URL(path, manifest);
}
