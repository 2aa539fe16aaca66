import { spawn } from 'node:child_process';
import { chmod, mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { BuildProgress } from './build-progress.ts';
import type { Recipe } from './programs.ts';

export interface BuildOptions {
  readonly recipe: Recipe;
  readonly env: NodeJS.ProcessEnv;
  readonly report: (line: string) => void;
}

/** Builds into a temporary file and renames it, so that no process finds an incomplete program. */
export async function buildInto(path: string, { recipe, env, report }: BuildOptions): Promise<void> {
  const draft = `${path}.${process.pid}.draft`;
  await mkdir(dirname(path), { recursive: true });
  const progress = new BuildProgress(recipe.name, report);
  try {
    progress.start();
    const total = await countPackages(recipe, env, progress);
    progress.compiling(total);
    const args = ['build', '-v', ...recipe.flags, '-o', draft, recipe.package];
    await runGo(args, recipe, env, (line) => progress.line(line));
    await chmod(draft, 0o755);
    await rename(draft, path);
    progress.done();
  } finally {
    progress.stop();
    await rm(draft, { force: true });
  }
}

/** Also downloads the sources. */
async function countPackages(
  recipe: Recipe,
  env: NodeJS.ProcessEnv,
  progress: BuildProgress,
): Promise<number> {
  const listed = await runGo(['list', '-deps', recipe.package], recipe, env, (line) => progress.line(line));
  return listed.split('\n').length - 1;
}

/** From the PATH. */
const goProgram = 'go';

const outputLinesKept = 40;

/** Resolves with the standard output. */
function runGo(
  args: readonly string[],
  { name, moduleFolder }: Recipe,
  env: NodeJS.ProcessEnv,
  onLine: (line: string) => void,
): Promise<string> {
  return new Promise((resolve, reject) => {
    // A Go workspace of the user must not affect the build.
    const go = spawn(goProgram, args, { cwd: moduleFolder, env: { ...env, GOWORK: 'off' } });
    const last: string[] = [];
    let output = '';
    let rest = '';
    go.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
    go.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = `${rest}${chunk}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        onLine(line);
        last.push(line);
        if (last.length > outputLinesKept) last.shift();
      }
    });
    go.once('error', reject);
    go.once('close', (status) => {
      if (status === 0) resolve(output);
      else reject(new Error(`${name}: go ${args[0]} failed in ${moduleFolder}\n${last.join('\n')}\n${rest}`));
    });
  });
}
