import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { projectRoot } from '../project-root.ts';
import type { CommandLine } from './command-lines.ts';

const script = join(projectRoot, 'test/kubernetes/process-supervisor.mjs');

/** How long a program may take to exit before it is killed. */
const stopMaxMs = 10_000;

export interface SupervisorFolders {
  /** Removed when the supervisor ends. */
  readonly data: string;
  /** One file per program, `<name>.log`; a restarted program appends to the same file. */
  readonly logs: string;
}

interface Command {
  readonly command: 'start' | 'signal';
  readonly name: string;
  readonly [setting: string]: unknown;
}

interface Answer {
  readonly id: number;
  readonly pid?: number;
  readonly error?: string;
}

type Message = Answer | ({ readonly event: 'exit'; readonly name: string } & ProgramExit);

interface ProgramExit {
  readonly code?: number | null;
  readonly signal?: NodeJS.Signals | null;
  readonly error?: string;
}

interface Running {
  readonly pid: number;
  readonly commandLine: CommandLine;
  readonly exited: Promise<ProgramExit>;
  readonly onExit: (exit: ProgramExit) => void;
}

/** Starts programs that end when this process ends, in any way: a separate process starts them and watches this one. */
export class ProcessSupervisor {
  readonly #folders: SupervisorFolders;
  readonly #process: ChildProcess;
  readonly #answers = new Map<number, (answer: Answer) => void>();
  readonly #running = new Map<string, Running>();
  readonly #exited: Promise<void>;
  #lastId = 0;

  constructor(folders: SupervisorFolders) {
    this.#folders = folders;
    // Its own session: Ctrl-C reaches only this process, and the supervisor then cleans up.
    this.#process = spawn(process.execPath, [script, folders.data], {
      stdio: ['pipe', 'pipe', 'inherit'],
      detached: true,
    });
    this.#exited = new Promise((resolve) => this.#process.once('exit', () => resolve()));
    this.#process.stdin?.on('error', () => {});
    const lines = createInterface({ input: this.#process.stdout! });
    lines.on('line', (line) => this.#receive(JSON.parse(line)));
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  pidOf(name: string): number | undefined {
    return this.#running.get(name)?.pid;
  }

  async start(name: string, commandLine: CommandLine): Promise<void> {
    let onExit: (exit: ProgramExit) => void = () => {};
    const exited = new Promise<ProgramExit>((resolve) => {
      onExit = resolve;
    });
    const asked = this.#send({ command: 'start', name, log: this.#logOf(name), ...commandLine });
    this.#running.set(name, { pid: 0, commandLine, exited, onExit });
    const { pid = 0 } = await asked;
    if (this.#running.has(name)) this.#running.set(name, { pid, commandLine, exited, onExit });
  }

  /** Sends SIGTERM, and SIGKILL if the program does not exit. */
  async stop(name: string, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const running = this.#running.get(name);
    if (running === undefined) return;
    await this.#signalIfRunning(name, signal);
    const patience = new AbortController();
    const late = sleep(stopMaxMs, 'late', { signal: patience.signal }).catch(() => 'late');
    if ((await Promise.race([running.exited, late])) === 'late') await this.#signalIfRunning(name, 'SIGKILL');
    patience.abort();
    await running.exited;
  }

  /** Starts the program again, on the same port and with the same data. */
  async restart(name: string, signal?: NodeJS.Signals): Promise<void> {
    const running = this.#running.get(name);
    if (running === undefined) throw new Error(`${name} is not running`);
    await this.stop(name, signal);
    await this.start(name, running.commandLine);
  }

  async signal(name: string, signal: NodeJS.Signals): Promise<void> {
    await this.#send({ command: 'signal', name, signal });
  }

  isRunning(name: string): boolean {
    return this.#running.has(name);
  }

  /** Resolves when the running program has exited. */
  async exitOf(name: string): Promise<ProgramExit> {
    return (await this.#running.get(name)?.exited) ?? {};
  }

  log(name: string): string {
    try {
      return readFileSync(this.#logOf(name), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
      throw error;
    }
  }

  async end(): Promise<void> {
    this.#process.stdin?.end();
    await this.#exited;
  }

  /** The program may exit in the meantime. */
  async #signalIfRunning(name: string, signal: NodeJS.Signals): Promise<void> {
    try {
      await this.signal(name, signal);
    } catch (error) {
      if (this.#running.has(name)) throw error;
    }
  }

  #logOf(name: string): string {
    return join(this.#folders.logs, `${name}.log`);
  }

  async #send(message: Command): Promise<{ readonly pid?: number }> {
    this.#lastId += 1;
    const id = this.#lastId;
    const answered = new Promise<Answer>((resolve) => this.#answers.set(id, resolve));
    this.#process.stdin?.write(`${JSON.stringify({ id, ...message })}\n`);
    const answer = await Promise.race([answered, this.#exited.then(() => undefined)]);
    if (answer === undefined) throw new Error('the process supervisor has exited');
    if (answer.error !== undefined) throw new Error(answer.error);
    return answer.pid === undefined ? {} : { pid: answer.pid };
  }

  #receive(message: Message): void {
    if ('event' in message) {
      const running = this.#running.get(message.name);
      this.#running.delete(message.name);
      running?.onExit(message);
      return;
    }
    this.#answers.get(message.id)?.(message);
    this.#answers.delete(message.id);
  }
}
