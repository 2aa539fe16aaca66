/** Stowage as npm would install it for the image's platform: the packed package, and what it depends on at run time, by the lock file. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FileTree } from './file-tree.mjs';

const project = fileURLToPath(new URL('../..', import.meta.url));
const installedAt = 'usr/lib/stowage';
const program = `${installedAt}/dist/cli/main.js`;

/** Uses `folder` for what is unpacked. The tree, and the `package.json` of each package in it. */
export function stowageFiles(folder, npmCpu) {
  const root = join(folder, 'package');
  unpack(folder);
  install(root, npmCpu);
  const tree = new FileTree();
  tree.copyFolder(installedAt, root, (path) => isWanted(path) && path !== program);
  // There is no /usr/bin/env.
  const main = readFileSync(join(root, 'dist/cli/main.js'), 'utf8').replace(/^#!.*/, '#!/usr/bin/node');
  tree.file(program, main, 0o755);
  tree.link('usr/bin/stowage', `../../${program}`);
  return { tree, packages: manifestsBelow(join(root, 'node_modules')), stowage: readManifest(root) };
}

function unpack(folder) {
  mkdirSync(folder, { recursive: true });
  // Without scripts: `prepare` would build, and `npm run image` has done so.
  const output = run(
    'npm',
    ['pack', '--ignore-scripts', '--loglevel=error', '--json', '--pack-destination', folder],
    project,
  );
  run('tar', ['-xzf', JSON.parse(output)[0].filename], folder);
}

/** What npm installs depends on the lock file only; no package may run anything. */
function install(root, npmCpu) {
  copyFileSync(join(project, 'package-lock.json'), join(root, 'package-lock.json'));
  const platform = ['--os=linux', `--cpu=${npmCpu}`, '--libc=glibc'];
  const flags = [
    '--omit=dev',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    '--no-bin-links',
  ];
  run('npm', ['ci', ...flags, ...platform], root);
}

/** npm's own notes are not part of any package. Native modules for musl cannot be loaded here. */
function isWanted(path) {
  const isNote =
    path === `${installedAt}/package-lock.json` || path.endsWith('/node_modules/.package-lock.json');
  return !isNote && !path.endsWith('.musl.node');
}

function manifestsBelow(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => {
      const path = join(folder, name);
      if (name.startsWith('@')) return manifestsBelow(path);
      const nested = readdirSync(path).includes('node_modules')
        ? manifestsBelow(join(path, 'node_modules'))
        : [];
      return [readManifest(path), ...nested];
    });
}

function readManifest(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

function run(command, args, cwd) {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}
