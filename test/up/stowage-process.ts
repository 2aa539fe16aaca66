import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { builtProgram, compiledCodeFolder, shortLived } from '../built-program.ts';

/** A program without output for this long is broken; the machine may be busy. */
const answerMaxMs = 240_000;

export interface Exit {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** What a client needs, read from the kubeconfig as kubectl does. */
export interface ServerAccess {
  readonly url: string;
  readonly certificateAuthority: string;
  readonly token: string;
}

/** `stowage` in a process of its own, as users run it. */
export class StowageProcess {
  readonly args: readonly string[];
  readonly exited: Promise<Exit>;
  readonly #process: ChildProcess;
  #stdout = '';
  #stderr = '';
  #hasExited = false;

  /** `program` is the `main.js` of another build. */
  constructor(
    args: readonly string[],
    cwd?: string,
    env: Readonly<Record<string, string>> = {},
    program?: string,
  ) {
    this.args = args;
    const script = program ?? builtProgram(new URL('../../src/cli/main.ts', import.meta.url));
    this.#process = spawn(process.execPath, [...shortLived, script, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      cwd,
      // Without colours and without the settings of the user who runs the tests.
      env: {
        PATH: process.env.PATH,
        NO_COLOR: '1',
        // Below the clone: another user may run the tests of another clone on this machine.
        XDG_STATE_HOME: join(compiledCodeFolder(), 'state'),
        XDG_CACHE_HOME: compiledCodeFolder(),
        ...env,
      },
    });
    this.#process.stdout?.on('data', (chunk) => {
      this.#stdout += chunk;
    });
    this.#process.stderr?.on('data', (chunk) => {
      this.#stderr += chunk;
    });
    this.exited = new Promise((resolve) =>
      this.#process.once('close', (status, signal) => {
        this.#hasExited = true;
        resolve({ status, signal });
      }),
    );
    running.add(this);
    this.exited.then(() => running.delete(this));
  }

  /** `stowage up` on a free port; resolves when it is ready. */
  static async up(data: string, ...flags: readonly string[]): Promise<StowageProcess> {
    const stowage = new StowageProcess(['up', '--data', data, '--port', '0', ...flags]);
    await stowage.answers();
    return stowage;
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  get kubeconfig(): string {
    const [, path] = /^export KUBECONFIG=(.+)$/m.exec(this.#stdout) ?? [];
    if (path === undefined) throw new Error(`stowage printed no kubeconfig path\n${this.#stderr}`);
    return path;
  }

  get access(): ServerAccess {
    return accessIn(readFileSync(this.kubeconfig, 'utf8'));
  }

  /** Waits until it has printed the path of its kubeconfig. */
  async answers(): Promise<void> {
    const giveUpAtMs = Date.now() + answerMaxMs;
    while (!this.#stdout.includes('\n')) {
      if (this.#hasExited || Date.now() > giveUpAtMs) {
        throw new Error(`stowage did not become ready\n${this.#stdout}${this.#stderr}`);
      }
      await delay(5);
    }
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Exit> {
    this.#process.kill(signal);
    return await this.exited;
  }

  /** SIGKILL, as the kernel does when memory runs out. */
  async kill(): Promise<void> {
    await this.stop('SIGKILL');
  }
}

/**
 * `stowage up` without controllers, one for all tests of a file that need an API server and no particular content. A start costs more than
 * most of these tests.
 */
export function sharedServer(): () => StowageProcess {
  let server: StowageProcess;
  let folder = '';
  beforeAll(async () => {
    folder = newFolder();
    server = await StowageProcess.up(folder, '--controllers', 'none');
  });
  afterAll(() => removeFolder(folder));
  return () => server;
}

/** A call that should exit by itself. */
export async function callStowage(
  ...args: readonly string[]
): Promise<Exit & { stdout: string; stderr: string }> {
  const stowage = new StowageProcess(args);
  const timer = setTimeout(() => void stowage.kill(), answerMaxMs);
  const exit = await stowage.exited;
  clearTimeout(timer);
  return { ...exit, stdout: stowage.stdout, stderr: stowage.stderr };
}

const running = new Set<StowageProcess>();
process.once('exit', () => {
  for (const { pid } of running) process.kill(pid, 'SIGKILL');
});

/** An empty folder that is removed when the test ends, also when it fails. The processes that use it are killed. */
export function temporaryFolder(): string {
  const folder = newFolder();
  onTestFinished(() => removeFolder(folder));
  return folder;
}

export function newFolder(): string {
  return mkdtempSync(join(tmpdir(), 'stowage-up-'));
}

export async function removeFolder(folder: string): Promise<void> {
  const users = [...running].filter(({ args }) => args.some((arg) => arg.startsWith(folder)));
  await Promise.all(users.map((stowage) => stowage.kill()));
  rmSync(folder, { recursive: true, force: true });
}

export function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

interface Kubeconfig {
  readonly clusters: readonly [
    { readonly cluster: { readonly server: string; readonly 'certificate-authority-data': string } },
  ];
  readonly users: readonly [{ readonly user: { readonly token: string } }];
}

export function accessIn(text: string): ServerAccess {
  const { clusters, users } = parse(text) as Kubeconfig;
  const [{ cluster }] = clusters;
  return {
    url: cluster.server,
    certificateAuthority: Buffer.from(cluster['certificate-authority-data'], 'base64').toString(),
    token: users[0].user.token,
  };
}
