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

const cli = join(folder, 'cli');
const output = {
  dir: cli,
  sourcemap: true,
  sourcemapExcludeSources: true,
  // Names stay, so that stack traces can be read.
  minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
};
// Names of modules in the output are relative to the folder, so that the same sources make the same files.
const input = {
  cwd: folder,
  platform: 'node',
  // lmdb has a binary. proto-loader is large, and grpc-js loads it only for a service that we do not have.
  external: /^(node:|lmdb$|@grpc\/proto-loader$)/,
};

// CommonJS, because Node takes compiled code from a cache for scripts only: src/cli/start.
const program = await writtenScript({ program: './cli/command-line.js' });
const start = await writtenScript({ start: './cli/start/load-program.js' });
await written(
  { ...input, input: { main: './cli/main.js' }, plugins: [programFromScripts()] },
  { ...output, format: 'esm' },
);

/** A process that is starting while the files are replaced finds its own version or none. */
async function writtenScript(entry) {
  const name = 'chunks/[name]-[hash].cjs';
  const names = { entryFileNames: name, chunkFileNames: name };
  const [{ fileName }] = await written({ ...input, input: entry }, { ...output, ...names, format: 'cjs' });
  return fileName;
}

async function written(input, output) {
  const bundle = await rolldown(input);
  const result = await bundle.write(output);
  await bundle.close();
  return result.output;
}

/** `main.js` itself imports nothing: for a module that imports `node:fs`, Node also loads its streams. */
function programFromScripts() {
  const id = join(cli, 'program-from-scripts.js');
  return {
    name: 'program-from-scripts',
    resolveId: (imported) => (imported === './command-line.js' ? id : null),
    load: (loaded) =>
      loaded === id
        ? `const require = process.getBuiltinModule('node:module').createRequire(import.meta.url);
           const { loadProgram } = require('./${start}');
           export const { runCommandLine } = loadProgram(require.resolve('./${program}'));`
        : null,
  };
}
