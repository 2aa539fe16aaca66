/**
 * Compiles `src` into `dist` and bundles the program. It does nothing if `dist` is up to date, and it never removes `dist` while another
 * process uses it: the compiler writes into a separate folder, and then each file that differs is replaced by a rename.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const stamp = join(dist, '.built-from');

const fingerprint = fingerprintOfInputs();
if (existsSync(stamp) && readFileSync(stamp, 'utf8') === fingerprint) {
  console.log('dist is up to date');
} else {
  console.log('compiling src into dist; this takes up to a minute');
  const output = mkdtempSync(join(root, '.dist-'));
  try {
    if (compileInto(output)) {
      replaceDist(output);
      writeFileSync(stamp, fingerprint);
    } else {
      console.error('dist is unchanged, because the sources do not compile');
      process.exitCode = 1;
    }
  } finally {
    rmSync(output, { recursive: true, force: true });
  }
}

/** A hash of everything that affects the result: the sources, the compiler and its settings, and this script. */
function fingerprintOfInputs() {
  const settings = [
    'tsconfig.json',
    'tsconfig.build.json',
    'package-lock.json',
    'scripts/build.mjs',
    'scripts/bundle.mjs',
    'scripts/bundle-console.mjs',
  ];
  const sources = filesBelow(join(root, 'src'))
    .filter(isShipped)
    .map((path) => join('src', path));
  const hash = createHash('sha256');
  for (const path of [...settings, ...sources.sort()]) {
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(root, path)))
      .update('\0');
  }
  return hash.digest('hex');
}

/** As in tsconfig.build.json, and the page of the console. */
function isShipped(path) {
  return isShippedModule(path) || path.startsWith('console/page/');
}

function isShippedModule(path) {
  return path.endsWith('.ts') && !path.endsWith('.test.ts') && !path.includes('/testing/');
}

function compileInto(output) {
  const require = createRequire(import.meta.url);
  const compiler = join(dirname(require.resolve('typescript/package.json')), 'bin', 'tsc');
  if (!runs(compiler, '-p', 'tsconfig.build.json', '--outDir', output)) return false;
  if (!runs(join('scripts', 'bundle.mjs'), output)) return false;
  if (!runs(join('scripts', 'bundle-console.mjs'), output)) return false;
  chmodSync(join(output, 'cli', 'main.js'), 0o755);
  return true;
}

function runs(...arguments_) {
  const { status } = spawnSync(process.execPath, arguments_, { cwd: root, stdio: 'inherit' });
  return status === 0;
}

/** Equal files are not touched, so that a running server sees as few changes as possible. */
function replaceDist(output) {
  const built = new Set(filesBelow(output));
  for (const path of built) {
    const target = join(dist, path);
    if (existsSync(target) && readFileSync(target).equals(readFileSync(join(output, path)))) continue;
    mkdirSync(dirname(target), { recursive: true });
    renameSync(join(output, path), target);
  }
  const stale = existsSync(dist)
    ? filesBelow(dist).filter((path) => !built.has(path) && path !== '.built-from')
    : [];
  for (const path of stale) rmSync(join(dist, path));
}

function filesBelow(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(folder.length + 1));
}
