/** `npm run chart -- --output DIR`: the chart as an archive for `helm install`. The same sources make the same bytes, and Helm is not needed. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { FileTree } from './image/file-tree.mjs';
import { writeTar } from './image/tar-writer.mjs';

const chart = fileURLToPath(new URL('../deploy/chart', import.meta.url));
const usage = 'usage: npm run chart -- --output DIR';

const output = readOutput();
const [, version] = /^version: (.+)$/m.exec(readFileSync(join(chart, 'Chart.yaml'), 'utf8')) ?? [];
const folder = mkdtempSync(join(tmpdir(), 'stowage-chart-'));
try {
  // The definitions are a link in the sources.
  cpSync(chart, join(folder, 'stowage'), { recursive: true, dereference: true });
  const tree = new FileTree();
  tree.copyFolder('stowage', join(folder, 'stowage'));
  const tar = join(folder, 'chart.tar');
  writeTar(tar, tree.entries(), 0);
  mkdirSync(output, { recursive: true });
  const file = join(output, `stowage-${version}.tgz`);
  writeFileSync(file, gzipSync(readFileSync(tar), { level: 9 }));
  console.log(file);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function readOutput() {
  try {
    const { values } = parseArgs({ options: { output: { type: 'string' } } });
    if (values.output === undefined) throw new Error('--output is missing; give the folder for the archive');
    return resolve(values.output);
  } catch (error) {
    console.error(`${error.message}\n${usage}`);
    process.exit(2);
  }
}
