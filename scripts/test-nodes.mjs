/**
 * Runs the tests on newer versions of Node: `npm run test:nodes [-- TESTS]`. The npm packages `node-linux-*` hold the program itself; `nodes.json` pins
 * their versions and hashes. The program and the tests are those of this checkout, installed for the Node that `npm ci` ran on.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { npmPackage } from './image/download.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const nodes = JSON.parse(readFileSync(new URL('nodes.json', import.meta.url), 'utf8'));
if (process.platform !== 'linux')
  throw new Error('npm run test:nodes needs Linux, because its packages of Node are for Linux');

const failed = [];
for (const { version, integrity } of nodes) {
  console.log(`\nNode ${version}`);
  const folder = await unpackedNode(version, integrity[process.arch]);
  const env = { ...process.env, PATH: `${folder}${delimiter}${process.env.PATH}` };
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const args = [vitest, 'run', '--mode', 'compiled', ...process.argv.slice(2)];
  const { status } = spawnSync(join(folder, 'node'), args, { cwd: root, env, stdio: 'inherit' });
  if (status !== 0) failed.push(version);
}
if (failed.length > 0) {
  console.error(`tests failed on Node ${failed.join(' and ')}`);
  process.exitCode = 1;
}

/** The folder with the program `node` of this version. It appears by a rename, so that an interrupted run leaves no half of it. */
async function unpackedNode(version, integrity) {
  if (integrity === undefined)
    throw new Error(`scripts/nodes.json has no hash of Node ${version} for ${process.arch}`);
  const target = join(root, 'build', 'nodes', version);
  if (!existsSync(target)) {
    const archive = await npmPackage(`node-linux-${process.arch}@${version}`, integrity);
    mkdirSync(join(root, 'build', 'nodes'), { recursive: true });
    const draft = mkdtempSync(join(root, 'build', 'nodes', 'draft-'));
    try {
      execFileSync('tar', ['-xzf', archive, '-C', draft, '--strip-components=1']);
      renameSync(draft, target);
    } finally {
      rmSync(draft, { recursive: true, force: true });
    }
  }
  return join(target, 'bin');
}
