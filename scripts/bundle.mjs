/**
 * Joins the modules of the compiled program into few files, so that it starts in half the time: Node takes longer to find and read a
 * thousand modules than to run them. `node scripts/bundle.mjs FOLDER` reads `FOLDER/cli/main.js` and replaces it; what each command loads
 * is in `FOLDER/cli/chunks`. Dependencies are joined too: a command spent more time on finding their hundreds of files than on its work. The
 * single modules stay: the libraries consist of them, and the source maps lead to them.
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
  // lmdb has a binary. proto-loader is large, and grpc-js loads it only for a service that we do not have.
  external: /^(node:|lmdb$|@grpc\/proto-loader$)/,
});
await bundle.write({
  dir: join(folder, 'cli'),
  format: 'esm',
  // A process that is starting while the files are replaced finds its own version or none.
  chunkFileNames: 'chunks/[name]-[hash].js',
  sourcemap: true,
  sourcemapExcludeSources: true,
  // Names stay, so that stack traces can be read.
  minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
});
await bundle.close();
