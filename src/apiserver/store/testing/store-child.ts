import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { builtProgram } from '../../../../test/built-program.ts';

export interface ChildOptions {
  /** `open-unprivileged` opens the store as a user without permissions, and needs root. */
  readonly what: 'storm' | 'hold' | 'fill' | 'open' | 'open-unprivileged';
  readonly directory: string;
  readonly seed?: string;
  /** A command that runs `node`, such as one that sets limits. */
  readonly wrapper?: readonly string[];
}

/** A child process whose output goes to a file in that folder, so that nothing is lost when it is killed. */
export class StoreChild {
  readonly process: ChildProcess;
  readonly ended: Promise<void>;
  readonly #output: string;

  constructor(folder: string, { what, directory, seed = '', wrapper = [] }: ChildOptions) {
    this.#output = join(mkdtempSync(join(folder, 'child-')), 'output');
    const script = builtProgram(new URL('child.ts', import.meta.url));
    const [command = '', ...rest] = [...wrapper, process.execPath, script, what, directory, seed];
    const output = openSync(this.#output, 'a');
    this.process = spawn(command, rest, { stdio: ['ignore', output, 'ignore'] });
    closeSync(output);
    this.ended = new Promise((resolve) => this.process.once('exit', () => resolve()));
  }

  /** Complete lines only. */
  get lines(): string[] {
    return readFileSync(this.#output, 'utf8').split('\n').slice(0, -1);
  }

  async kill(): Promise<void> {
    this.process.kill('SIGKILL');
    await this.ended;
  }

  /** Waits for the first output or the end of the process. */
  async firstOutput(): Promise<void> {
    while (this.lines.length === 0 && this.process.exitCode === null) await delay(5);
  }
}

export function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
