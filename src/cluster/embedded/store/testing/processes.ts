import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../../..', import.meta.url));

/** Compiles `child.ts` and what it needs, as Node by itself does not read TypeScript. Answers the folder. */
export function compileChild(): string {
  const folder = mkdtempSync(join(tmpdir(), 'stowage-child-'));
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      noCheck: true,
      rootDir: join(root, 'src'),
      outDir: join(folder, 'out'),
      typeRoots: [join(root, 'node_modules/@types')],
    },
    include: [],
    files: [fileURLToPath(new URL('child.ts', import.meta.url))],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', folder], { stdio: 'inherit' });
  return folder;
}

export interface ChildOptions {
  readonly what: 'storm' | 'hold' | 'fill' | 'open';
  readonly directory: string;
  readonly seed?: string;
  /** What runs it, in front of `node`. */
  readonly wrapper?: readonly string[];
}

/** A child whose lines go to a file: nothing that it said is lost when it is killed. */
export class StoreChild {
  readonly process: ChildProcess;
  readonly ended: Promise<void>;
  readonly #output: string;

  constructor(folder: string, { what, directory, seed = '', wrapper = [] }: ChildOptions) {
    this.#output = join(mkdtempSync(join(folder, 'child-')), 'output');
    const script = join(folder, 'out/cluster/embedded/store/testing/child.js');
    const [command = '', ...rest] = [...wrapper, process.execPath, script, what, directory, seed];
    const output = openSync(this.#output, 'a');
    this.process = spawn(command, rest, { stdio: ['ignore', output, 'ignore'] });
    closeSync(output);
    this.ended = new Promise((resolve) => this.process.once('exit', () => resolve()));
  }

  /** Whole lines only. */
  get lines(): string[] {
    return readFileSync(this.#output, 'utf8').split('\n').slice(0, -1);
  }

  async kill(): Promise<void> {
    this.process.kill('SIGKILL');
    await this.ended;
  }

  /** Until it has said something, or ended. */
  async speaks(): Promise<void> {
    while (this.lines.length === 0 && this.process.exitCode === null) await delay(5);
  }
}

export function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
