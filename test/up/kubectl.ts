import { execFile, execFileSync, type SpawnOptions, spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { ApiClient } from './api-client.ts';
import { newFolder, removeFolder, StowageProcess } from './stowage-process.ts';

/** Longer than any command takes; a command that hangs should fail only its own test. */
const commandMaxMs = 240_000;

export interface KubectlResult {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A new `stowage up` and a kubectl that is connected to it, for all tests of a `describe`. */
export class KubectlSession {
  readonly version: string;
  readonly #binary: string;
  #folder = '';
  #stowage: StowageProcess | undefined;
  #fileCount = 0;

  constructor({ binary, version }: Binary) {
    this.#binary = binary;
    this.version = version;
  }

  async start(...flags: readonly string[]): Promise<void> {
    this.#folder = newFolder();
    // kubectl caches discovery in the home directory by address, and another server may have used the port before.
    mkdirSync(join(this.#folder, 'home'));
    // Only some controllers: the tests compare kubectl's output, which running workloads would change.
    const controllers = ['--controllers', 'protection,garbage-collector,namespace'];
    this.#stowage = await StowageProcess.up(join(this.#folder, 'data'), ...controllers, ...flags);
  }

  async end(): Promise<void> {
    await removeFolder(this.#folder);
  }

  get stowage(): StowageProcess {
    if (this.#stowage === undefined) throw new Error('the session has not been started');
    return this.#stowage;
  }

  get api(): ApiClient {
    return new ApiClient(this.stowage.access);
  }

  /** Returns the output and the exit status, also on failure. */
  async run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<KubectlResult> {
    return await new Promise((resolve) => {
      const options = { env: { ...this.#env, ...env }, timeout: commandMaxMs };
      execFile(this.#binary, args, options, (error, stdout, stderr) => {
        const status = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
        resolve({ status, stdout, stderr });
      });
    });
  }

  /** The output of a command that must succeed. The line is split at spaces, without quotes. */
  async ok(line: string, ...more: readonly string[]): Promise<string> {
    const args = [...line.split(' '), ...more];
    const { status, stdout, stderr } = await this.run(args);
    expect(status, `kubectl ${args.join(' ')}\n${stderr}`).toBe(0);
    return stdout;
  }

  /** The error output of a command that must fail. */
  async fails(line: string, ...more: readonly string[]): Promise<string> {
    const args = [...line.split(' '), ...more];
    const { status, stdout, stderr } = await this.run(args);
    expect(status, `kubectl ${args.join(' ')}\n${stdout}`).toBe(1);
    return stderr;
  }

  /** Writes a text or an object to a file and returns its path. */
  file(content: string | object): string {
    this.#fileCount += 1;
    const path = join(this.#folder, `manifest-${this.#fileCount}.yaml`);
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  }

  /** Starts a command that runs until `stop` is called. */
  begin(line: string): { readonly lines: () => string[]; stop(): Promise<void> } {
    const options: SpawnOptions = {
      env: this.#env,
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: commandMaxMs,
    };
    const child = spawn(this.#binary, line.split(' '), options);
    let text = '';
    child.stdout?.on('data', (chunk) => {
      text += chunk;
    });
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    return {
      lines: () => text.split('\n').slice(0, -1),
      stop: async () => {
        child.kill();
        await ended;
      },
    };
  }

  get #env(): NodeJS.ProcessEnv {
    const home = join(this.#folder, 'home');
    // Without garbage collection: a command ends soon, and takes a fifth less of CPU time.
    return { PATH: process.env.PATH, HOME: home, KUBECONFIG: this.stowage.kubeconfig, GOGC: 'off' };
  }
}

/** Runs the same tests with each available kubectl. */
export function describeWithKubectl(title: string, tests: (session: KubectlSession) => void): void {
  if (binaries.length === 0) {
    describe.skip(`${title} (skipped: no kubectl on the PATH; put one there or name one in KUBECTL)`, () =>
      tests(new KubectlSession({ binary: 'kubectl', version: '' })));
  }
  describe.each(binaries)(`${title}, with kubectl $version`, (binary) => {
    const session = new KubectlSession(binary);
    beforeAll(() => session.start());
    afterAll(() => session.end());
    tests(session);
  });
}

interface Binary {
  readonly binary: string;
  readonly version: string;
}

const binaries = foundBinaries();

function foundBinaries(): Binary[] {
  const { KUBECTL, KUBEBUILDER_ASSETS } = process.env;
  const second = KUBEBUILDER_ASSETS === undefined ? '' : join(KUBEBUILDER_ASSETS, 'kubectl');
  const candidates = [KUBECTL ?? 'kubectl', ...(existsSync(second) ? [second] : [])];
  return candidates.flatMap((binary) => {
    const version = versionOf(binary);
    // If the user named a kubectl, a failure to run it must be an error.
    if (version === undefined && KUBECTL === binary) throw new Error(`KUBECTL: ${binary} does not run`);
    return version === undefined ? [] : [{ binary, version }];
  });
}

function versionOf(binary: string): string | undefined {
  try {
    const text = execFileSync(binary, ['version', '--client'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return /Client Version: (\S+)/.exec(text)?.[1] ?? 'of unknown version';
  } catch {
    return undefined;
  }
}
