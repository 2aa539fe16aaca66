/**
 * Joins the page of the console into few files without any address outside: `node scripts/bundle-console.mjs FOLDER` writes
 * `FOLDER/console/assets`. Everything is served by the console itself, so that it works offline.
 */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const [given] = process.argv.slice(2);
if (given === undefined) throw new Error('usage: node scripts/bundle-console.mjs FOLDER');
const output = join(resolve(given), 'console', 'assets');
const page = fileURLToPath(new URL('../src/console/page', import.meta.url));

const bundle = await rolldown({
  cwd: page,
  input: { main: './main.tsx' },
  platform: 'browser',
  transform: { jsx: { runtime: 'automatic', importSource: 'preact' } },
});
await bundle.write({ dir: output, format: 'esm', minify: true, entryFileNames: '[name].js' });
await bundle.close();

mkdirSync(output, { recursive: true });
for (const name of ['index.html', 'icon.svg']) cpSync(join(page, name), join(output, name));
const require = createRequire(import.meta.url);
const charts = readFileSync(
  join(dirname(require.resolve('uplot/package.json')), 'dist', 'uPlot.min.css'),
  'utf8',
);
writeFileSync(join(output, 'style.css'), `${charts}\n${readFileSync(join(page, 'style.css'), 'utf8')}`);
