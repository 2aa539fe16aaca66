import { existsSync, readFileSync } from 'node:fs';

/** Of the nearest package.json above: the program may lie in `dist/`, or deeper where benchmarks build it. */
export function packageVersion(): string {
  let path = new URL('./package.json', import.meta.url);
  while (!existsSync(path) && path.pathname !== '/package.json') path = new URL('../package.json', path);
  const manifest: unknown = JSON.parse(readFileSync(path, 'utf8'));
  return (manifest as { version: string }).version;
}
