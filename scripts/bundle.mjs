/**
 * Joins the modules of the compiled program into few files, so that it starts in half the time: Node takes longer to find and read a
 * thousand modules than to run them. `node scripts/bundle.mjs FOLDER` reads `FOLDER/cli/main.js` and replaces it; what each command loads
 * is in `FOLDER/cli/chunks`. Dependencies stay outside, so that npm keeps them up to date. The single modules stay too: the libraries
 * consist of them, and the source maps lead to them.
 */
import { join, resolve } from 'node:path';
import { rolldown } from 'rolldown';

const [given] = process.argv.slice(2);
if (given === undefined) throw new Error('usage: node scripts/bundle.mjs FOLDER');
const folder = resolve(given);

const bundle = await rolldown({
  // Names of modules in the output are relative to it, so that the same sources make the same files.
  cwd: folder,
  input: { main: './cli/main.js' },
  platform: 'node',
  // Everything that is not a path is a module of Node or a dependency.
  external: /^[^./]/,
});
await bundle.write({
  dir: join(folder, 'cli'),
  format: 'esm',
  // A process that is starting while the files are replaced finds its own version or none.
  chunkFileNames: 'chunks/[name]-[hash].js',
  sourcemap: true,
  sourcemapExcludeSources: true,
});
await bundle.close();
