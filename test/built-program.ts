import { execFileSync } from 'node:child_process';
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
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { projectRoot as root } from './project-root.ts';

const builds = join(root, 'build/for-tests');

/** How long builds of other versions of the sources are kept, because another run may use one. */
const keptMs = 3_600_000;

/**
 * The path of the compiled form of a file of `src`: Node does not run TypeScript, and `dist` may be outdated. All of `src` is compiled into
 * a folder that is named after the hash of the sources: the first caller compiles, all others find it. The program is bundled as in `dist`.
 * Types are not checked; `npm run check` does that.
 */
export function builtProgram(source: URL): string {
  built ??= compiled();
  return join(built, relative(join(root, 'src'), fileURLToPath(source))).replace(/\.ts$/, '.js');
}

/**
 * For the processes that run it in tests: as in `vitest.config.ts`, most end before optimized code pays for its compilation. The program does
 * the same with it. Only the V8 of Node 20 has the flag.
 */
export const shortLived: readonly string[] = process.version.startsWith('v20.')
  ? ['--interrupt-budget=2000000']
  : [];

/**
 * For the processes that run it in tests: `XDG_CACHE_HOME`, so that they find the functions which others have compiled, and leave the cache of
 * the user who runs the tests as it is.
 */
export function compiledCodeFolder(): string {
  built ??= compiled();
  return join(built, 'cache');
}

/** Sought once: it takes as long as a short test, and a run uses one version of the sources from its start to its end. */
let built: string | undefined;

function compiled(): string {
  const folder = join(builds, fingerprint());
  if (!existsSync(folder)) compileInto(folder);
  return folder;
}

function fingerprint(): string {
  const hash = createHash('sha256');
  for (const path of ['package.json', 'tsconfig.json', 'scripts/bundle.mjs', ...sources()]) {
    hash
      .update(`${path}\n`)
      .update(readFileSync(join(root, path)))
      .update('\n');
  }
  return hash.digest('hex').slice(0, 16);
}

function sources(): string[] {
  return readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .map((path) => `src/${path}`)
    .sort();
}

/** Compiles into a temporary folder first, so that no process finds an incomplete build. */
function compileInto(folder: string): void {
  mkdirSync(builds, { recursive: true });
  const draft = mkdtempSync(join(builds, 'draft-'));
  const config = join(draft, 'tsconfig.json');
  writeFileSync(config, JSON.stringify(compilerConfig(draft)));
  execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', config], { stdio: 'inherit' });
  execFileSync(process.execPath, [join(root, 'scripts/bundle.mjs'), draft], { stdio: 'inherit' });
  // Some tests run it as another user.
  chmodSync(draft, 0o755);
  try {
    renameSync(draft, folder);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
  forgetOldBuilds();
}

/** The shipped code and the programs of tests; other test code may import files outside of `src`. */
function compilerConfig(outDir: string): object {
  const programs = sources().filter((path) => path.endsWith('/testing/child.ts'));
  return {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      noCheck: true,
      inlineSourceMap: true,
      rootDir: join(root, 'src'),
      outDir,
    },
    include: [join(root, 'src')],
    exclude: [join(root, 'src/**/*.test.ts'), join(root, 'src/**/testing/**')],
    files: programs.map((path) => join(root, path)),
  };
}

function forgetOldBuilds(): void {
  for (const name of readdirSync(builds)) {
    const path = join(builds, name);
    const ageMs =
      Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY);
    if (ageMs > keptMs) rmSync(path, { recursive: true, force: true });
  }
}
