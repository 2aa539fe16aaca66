import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { builtProgram, compiledCodeFolder, shortLived } from '../../built-program.ts';
import { ApiClient } from '../../up/api-client.ts';
import { accessIn, delay } from '../../up/stowage-process.ts';

/** `stowage up` without controllers, for faults: it can be killed, and its files can be prevented from growing. */
export class ServerProcess {
  /** Resolves with the signal or the exit status. */
  readonly ended: Promise<string>;
  /** Aborts when the process has ended. */
  readonly endSignal: AbortSignal;
  readonly #process: ChildProcess;
  readonly #data: string;
  #output = '';
  #errors = '';
  #hasEnded = false;

  constructor(data: string) {
    this.#data = data;
    const script = builtProgram(new URL('../../../src/cli/main.ts', import.meta.url));
    const flags = ['--data', data, '--port', '0', '--controllers', 'none'];
    const command = [process.execPath, ...shortLived, script, 'up', ...flags];
    // A process that writes beyond its limit gets a signal, which ends it unless it is ignored.
    this.#process = spawn('sh', ['-c', 'trap "" XFSZ; exec "$@"', 'sh', ...command], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH, NO_COLOR: '1', XDG_CACHE_HOME: compiledCodeFolder() },
    });
    this.#process.stdout?.on('data', (chunk) => {
      this.#output += chunk;
    });
    this.#process.stderr?.on('data', (chunk) => {
      this.#errors += chunk;
    });
    const end = new AbortController();
    this.endSignal = end.signal;
    this.ended = new Promise((resolve) =>
      this.#process.once('close', (status, signal) => {
        this.#hasEnded = true;
        running.delete(this);
        end.abort();
        resolve(signal ?? `${status}`);
      }),
    );
    running.add(this);
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  get errors(): string {
    return this.#errors;
  }

  /** A client, when the server is ready; undefined if it has ended instead. */
  async connect(): Promise<ApiClient | undefined> {
    while (!this.#output.includes('\n')) {
      if (this.#hasEnded) return undefined;
      await delay(2);
    }
    return new ApiClient(accessIn(readFileSync(join(this.#data, 'kubeconfig'), 'utf8')));
  }

  async kill(): Promise<string> {
    this.#process.kill('SIGKILL');
    return await this.ended;
  }

  /** No file of the process can grow beyond this size: a full disk that needs no rights. Undefined lifts the limit. */
  limitFiles(bytes: number | undefined): void {
    if (this.#hasEnded) return;
    const limit = `--fsize=${bytes ?? 'unlimited'}:`;
    execFileSync('prlimit', ['--pid', `${this.#process.pid}`, limit]);
  }
}

/** Whether `limitFiles` works: Linux has this program. */
export function canLimitFiles(): boolean {
  return spawnSync('prlimit', ['--version'], { stdio: 'ignore' }).status === 0;
}

const running = new Set<ServerProcess>();
process.once('exit', () => {
  for (const server of running) void server.kill();
});
