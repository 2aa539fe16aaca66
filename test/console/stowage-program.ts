import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

export interface ConsoleProgram extends AsyncDisposable {
  /** As it was printed, with its token if there is one. */
  readonly consoleUrl: string;
  /** Without path. */
  readonly server: string;
  readonly folder: string;
  readonly output: () => string;
}

/** Starts a command that serves the console, and waits for its address. `{folder}` in arguments is a new folder. */
export async function startConsole(...args: readonly string[]): Promise<ConsoleProgram> {
  const folder = await mkdtemp(join(tmpdir(), 'stowage-console-'));
  const given = args.map((arg) => arg.replace('{folder}', folder));
  const child = spawn(process.execPath, [main, ...given], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const consoleUrl = await new Promise<string>((resolve, reject) => {
    const read = (part: Buffer) => {
      output += part;
      const match = /the console is on (https:\S+)/.exec(output);
      if (match !== null) resolve(match[1]!);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('exit', (code) =>
      reject(new Error(`stowage ${given.join(' ')} ended with ${code}: ${output}`)),
    );
  });
  return {
    consoleUrl,
    server: new URL(consoleUrl).origin,
    folder,
    output: () => output,
    [Symbol.asyncDispose]: async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      if (child.exitCode === null && child.kill('SIGTERM')) await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
