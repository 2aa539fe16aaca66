import { accessSync, constants, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { withBuildLock } from './build-lock.ts';
import { buildInto } from './go-build.ts';
import { kubernetesRelease, type ProgramName, programNames, type Recipe, recipeOf } from './programs.ts';

/** The path of each program; programs that are not available are left out. */
export type ProgramPaths = { readonly [Name in ProgramName]?: string };

export interface ProvideOptions {
  readonly env: NodeJS.ProcessEnv;
  /** Receives progress messages, one line each. */
  readonly report: (line: string) => void;
  /** All programs by default. */
  readonly names?: readonly ProgramName[];
  /** The folder of the Go modules; `modules` by default. */
  readonly modules?: string;
}

/**
 * Finds the programs and builds missing ones. It looks in KUBEBUILDER_ASSETS, then in the user's cache, and otherwise builds from the Go
 * module registry into the cache. Rejects if a build fails.
 */
export async function providePrograms(options: ProvideOptions): Promise<ProgramPaths> {
  const { env, report, names = programNames } = options;
  const release = kubernetesRelease(env);
  const paths: { [Name in ProgramName]?: string } = {};
  for (const name of names) {
    const recipe = recipeOf(name, release, options.modules);
    const path = inAssets(name, env) ?? (await cachedOrBuilt(recipe, env, report));
    if (path !== undefined) paths[name] = path;
  }
  return paths;
}

function inAssets(name: ProgramName, env: NodeJS.ProcessEnv): string | undefined {
  const folder = env.KUBEBUILDER_ASSETS;
  if (folder === undefined || folder === '') return undefined;
  const path = join(folder, name);
  return isExecutable(path) ? path : undefined;
}

async function cachedOrBuilt(
  recipe: Recipe,
  env: NodeJS.ProcessEnv,
  report: (line: string) => void,
): Promise<string | undefined> {
  const folder = join(cacheFolder(env), recipe.name);
  const path = join(folder, recipe.fingerprint, recipe.name);
  if (isExecutable(path)) return path;
  if (!hasGo(env)) return undefined;
  const build = async (): Promise<void> => {
    // The previous holder of the lock may have built it.
    if (!isExecutable(path)) await buildInto(path, { recipe, env, report });
  };
  await withBuildLock(join(folder, `${recipe.fingerprint}.lock`), build, () =>
    report(`${recipe.name}: another process is building it, waiting`),
  );
  return path;
}

function cacheFolder(env: NodeJS.ProcessEnv): string {
  const cache = env.XDG_CACHE_HOME;
  const isSet = cache !== undefined && cache !== '';
  return join(isSet ? cache : join(env.HOME ?? homedir(), '.cache'), 'stowage', 'kubernetes');
}

function hasGo(env: NodeJS.ProcessEnv): boolean {
  return (env.PATH ?? '').split(delimiter).some((folder) => isExecutable(join(folder, 'go')));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
