import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** A command that serves the console. */
export class ConsoleProgram implements AsyncDisposable {
  readonly folder: string;
  /** As it was printed, with its token if there is one. */
  consoleUrl = '';
  #child: ChildProcess | undefined;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Without path. */
  get server(): string {
    return new URL(this.consoleUrl).origin;
  }

  get port(): number {
    return Number(new URL(this.consoleUrl).port);
  }

  /** Starts it, and waits for its address. */
  async start(args: readonly string[]): Promise<void> {
    const child = spawn(process.execPath, [main, ...args], {
      cwd: this.folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    let output = '';
    this.consoleUrl = await new Promise<string>((resolve, reject) => {
      const read = (part: Buffer) => {
        output += part;
        const match = /the console is on (https:\S+)/.exec(output);
        if (match !== null) resolve(match[1]!);
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      child.once('exit', (code) =>
        reject(new Error(`stowage ${args.join(' ')} ended with ${code}: ${output}`)),
      );
    });
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    if (child.kill('SIGTERM')) await ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Starts a command in a new folder, which is `{folder}` in its arguments. */
export async function startConsole(...args: readonly string[]): Promise<ConsoleProgram> {
  const folder = await mkdtemp(join(tmpdir(), 'stowage-console-'));
  const program = new ConsoleProgram(folder);
  await program.start(args.map((arg) => arg.replace('{folder}', folder)));
  return program;
}
