/**
 * `npm run krew -- --output DIR [--platform OS/ARCH ...]`: the archives of the kubectl plugin, each with what Stowage needs at run time but
 * Node, and the manifest for Krew with their hashes. The same sources make the same bytes.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { FileTree } from './image/file-tree.mjs';
import { writeTar } from './image/tar-writer.mjs';

const project = fileURLToPath(new URL('..', import.meta.url));
const platforms = ['linux/amd64', 'linux/arm64', 'darwin/amd64', 'darwin/arm64'];
const usage = `usage: npm run krew -- --output DIR [--platform ${platforms.join('|')}] ...`;

const { output, chosen } = readOptions();
mkdirSync(output, { recursive: true });
const hashes = new Map(chosen.map((platform) => [platform, pack(platform)]));
writeFileSync(join(output, 'stowage.yaml'), manifestWith(hashes));

/** Writes the archive of one platform; its SHA-256. */
function pack(platform) {
  const [os, architecture] = platform.split('/');
  const folder = mkdtempSync(join(tmpdir(), 'stowage-krew-'));
  try {
    const root = join(folder, 'package');
    install(folder, root, { os, cpu: architecture === 'amd64' ? 'x64' : architecture });
    const tree = new FileTree();
    tree.copyFolder(
      '',
      root,
      (path) => !/(^|\/)(\.package-lock|package-lock)\.json$|\.musl\.node$/.test(path),
    );
    const tar = join(folder, 'plugin.tar');
    writeTar(tar, tree.entries(), 0);
    const archive = gzipSync(readFileSync(tar), { level: 9 });
    const file = join(output, `kubectl-stowage-${os}-${architecture}.tar.gz`);
    writeFileSync(file, archive);
    console.log(`${platform}: ${file}, ${Math.round(archive.length / 2 ** 20)} MiB`);
    return createHash('sha256').update(archive).digest('hex');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The packed package with its dependencies, as the lock file has them; no package may run anything. */
function install(folder, root, { os, cpu }) {
  // `npm run krew` has built it.
  const packed = run(
    ['pack', '--ignore-scripts', '--loglevel=error', '--json', '--pack-destination', folder],
    project,
  );
  execFileSync('tar', ['-xzf', JSON.parse(packed)[0].filename], { cwd: folder });
  copyFileSync(join(project, 'package-lock.json'), join(root, 'package-lock.json'));
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error', '--no-bin-links'];
  run(['ci', '--omit=dev', '--ignore-scripts', `--os=${os}`, `--cpu=${cpu}`, ...quiet], root);
}

function run(args, cwd) {
  return execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}

/** Platforms without an archive are left out: Krew refuses a platform without a hash. */
function manifestWith(hashes) {
  const text = readFileSync(join(project, 'deploy/krew/stowage.yaml'), 'utf8');
  const [head, ...entries] = text.split(/^(?= {4}- selector:)/m);
  const made = entries.flatMap((entry) => {
    const [, os, architecture] = /os: (\w+), arch: (\w+)/.exec(entry) ?? [];
    const hash = hashes.get(`${os}/${architecture}`);
    return hash === undefined ? [] : [entry.replace('sha256: ""', `sha256: ${hash}`)];
  });
  return [head, ...made].join('');
}

function readOptions() {
  try {
    const { values } = parseArgs({
      options: { output: { type: 'string' }, platform: { type: 'string', multiple: true } },
    });
    if (values.output === undefined) throw new Error('--output is missing; give the folder for the archives');
    const unknown = values.platform?.find((platform) => !platforms.includes(platform));
    if (unknown !== undefined)
      throw new Error(`--platform ${unknown}: must be one of ${platforms.join(', ')}`);
    return { output: resolve(values.output), chosen: values.platform ?? platforms };
  } catch (error) {
    console.error(`${error.message}\n${usage}`);
    process.exit(2);
  }
}
