import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { projectRoot } from '../../project-root.ts';
import { runCommand } from '../node/commands.ts';

export interface UmlKernel {
  /** The program that is a kernel. */
  readonly program: string;
  /** A library to preload, see `whole-fp-state.c`. */
  readonly library: string;
}

const librarySource = join(projectRoot, 'test/kubernetes/uml/whole-fp-state.c');
const needed: Readonly<Record<string, string>> = {
  'apt-get': 'apt',
  dpkg: 'dpkg',
  gcc: 'gcc and libc6-dev',
  'mkfs.xfs': 'xfsprogs',
};

/**
 * Finds the kernel in the user's cache, or downloads it into the cache. Resolves with undefined if this machine cannot have it, and says why; with
 * `CI=true` it rejects instead.
 */
export async function umlKernel(): Promise<UmlKernel | undefined> {
  const problem = machineProblem();
  if (problem !== undefined) return lacking(problem);
  const folder = join(cacheFolder(process.env), 'user-mode-linux');
  await mkdir(folder, { recursive: true });
  try {
    return { program: await downloaded(folder), library: await compiled(folder) };
  } catch (error) {
    return lacking((error as Error).message);
  }
}

function machineProblem(): string | undefined {
  if (process.getuid?.() !== 0) return 'this user is not root';
  if (process.arch !== 'x64') return `user-mode-linux does not run on ${process.arch}`;
  const missing = Object.entries(needed).filter(([command]) => !isInPath(command));
  return missing.length === 0
    ? undefined
    : `Debian packages are missing: ${missing.map(([, name]) => name).join(', ')}`;
}

function lacking(problem: string): undefined {
  const text = `a kernel with XFS quota: ${problem}`;
  if (process.env.CI === 'true') throw new Error(text);
  process.stderr.write(`${text}. Tests that need one are SKIPPED.\n`);
  return undefined;
}

async function downloaded(folder: string): Promise<string> {
  return await madeOnce(folder, 'linux.uml', async (draft) => {
    await runCommand('sh', '-c', 'cd "$1" && apt-get download -q user-mode-linux', 'sh', draft);
    const [archive = ''] = (await readdir(draft)).filter((name) => name.endsWith('.deb'));
    await runCommand('dpkg', '-x', join(draft, archive), join(draft, 'unpacked'));
    return join(draft, 'unpacked/usr/bin/linux.uml');
  });
}

async function compiled(folder: string): Promise<string> {
  const hash = createHash('sha256').update(readFileSync(librarySource)).digest('hex').slice(0, 8);
  return await madeOnce(folder, `whole-fp-state-${hash}.so`, async (draft) => {
    const library = join(draft, 'library.so');
    await runCommand('gcc', '-O2', '-fPIC', '-shared', '-o', library, librarySource);
    return library;
  });
}

/** Builds in a temporary directory until the kernel is complete: processes that build at the same time only waste time. */
async function madeOnce(
  folder: string,
  name: string,
  make: (draft: string) => Promise<string>,
): Promise<string> {
  const path = join(folder, name);
  if (existsSync(path)) return path;
  const draft = await mkdtemp(join(folder, 'draft-'));
  try {
    await rename(await make(draft), path);
    return path;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

function cacheFolder({ XDG_CACHE_HOME: cache = '', HOME: home = homedir() }: NodeJS.ProcessEnv): string {
  return join(cache === '' ? join(home, '.cache') : cache, 'stowage');
}

function isInPath(command: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, command), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
