import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Random, seededRandom } from '../../../src/runtime/random.ts';
import type { ApiClient } from '../../up/api-client.ts';
import { delay } from '../../up/stowage-process.ts';
import { checkHistory } from '../linearizability/check-history.ts';
import { tryDamagedCopies } from './damaged-copies.ts';
import { Recorder } from './recorder.ts';
import { RecordingClient } from './recording-client.ts';
import { RecordingWatcher } from './recording-watcher.ts';
import { ServerProcess } from './server-process.ts';

export type Fault =
  /** SIGKILL while clients write. */
  | 'kill'
  /** Files cannot grow for a while; then they can again. Then SIGKILL. */
  | 'full-disk'
  /** SIGKILL; then damaged copies of the data are opened. */
  | 'damage';

export interface RobustnessOptions {
  readonly seed: string | number;
  /** Each round starts the server on the data of the round before, and ends with one fault. */
  readonly rounds: number;
  /** The faults take turns, one for each round. */
  readonly faults: readonly Fault[];
  /** The fault of a round waits for at least so many operations. */
  readonly operations?: number;
  /** How many damaged copies are tried in a round with `damage`. */
  readonly damagedCopies?: number;
  readonly onProgress?: (line: string) => void;
}

export interface RobustnessReport {
  /** What is wrong; empty if the server kept its promises. */
  readonly problems: readonly string[];
  readonly operations: number;
  readonly acknowledged: number;
  readonly unknown: number;
  readonly refused: number;
  readonly events: number;
  readonly lists: number;
  readonly kills: number;
  /** Servers that ended by themselves. */
  readonly crashes: number;
  readonly copiesComplete: number;
  readonly copiesRefused: number;
}

const clientCount = 6;
const watcherCount = 3;
const largeBytes = 300_000;

/**
 * Runs a real server in a temporary directory, with clients and watchers over HTTPS, and faults; then checks the history
 * of all rounds. The seed decides what clients do and what is damaged; the moment of a fault depends on the machine.
 */
export async function runRobustness(options: RobustnessOptions): Promise<RobustnessReport> {
  const folder = mkdtempSync(join(tmpdir(), 'stowage-faults-'));
  const run = new RobustnessRun(folder, options);
  try {
    for (let round = 0; round < options.rounds; round += 1) await run.round(round);
    await run.finish();
    return run.report();
  } finally {
    await run.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

class RobustnessRun {
  readonly #folder: string;
  readonly #options: RobustnessOptions;
  readonly #random: Random;
  readonly #recorder = new Recorder();
  readonly #clients: readonly RecordingClient[];
  readonly #watchers: readonly RecordingWatcher[];
  readonly #problems: string[] = [];
  #largeCount = 0;
  #server: ServerProcess | undefined;
  readonly #counts = { kills: 0, crashes: 0, copiesComplete: 0, copiesRefused: 0 };

  constructor(folder: string, options: RobustnessOptions) {
    this.#folder = folder;
    this.#options = options;
    this.#random = seededRandom(options.seed);
    const fork = (name: string) => this.#random.fork(name);
    const names = (what: string, count: number) =>
      Array.from({ length: count }, (_, index) => `${what}-${index}`);
    this.#clients = names('client', clientCount).map(
      (name) => new RecordingClient(name, this.#recorder, fork(name)),
    );
    this.#watchers = names('watcher', watcherCount).map(
      (name) => new RecordingWatcher(name, this.#recorder, fork(name)),
    );
  }

  get #data(): string {
    return join(this.#folder, 'data');
  }

  get #store(): string {
    return join(this.#data, 'store');
  }

  async round(number: number): Promise<void> {
    const { faults } = this.#options;
    const fault = faults[number % faults.length]!;
    await this.#load(async (server, api) => {
      if (fault === 'full-disk') await this.#fillDisk(server, api);
      const end = await server.kill();
      if (end === 'SIGKILL') this.#counts.kills += 1;
      else this.#crashed(end);
    });
    if (fault === 'damage') await this.#damage();
    this.#options.onProgress?.(
      `round ${number + 1}: ${fault}, ${this.#recorder.operations.length} operations`,
    );
  }

  /** A last round without a fault, until every watcher has received everything. */
  async finish(): Promise<void> {
    await this.#load(async (server, api, clientsDone) => {
      await clientsDone();
      const call = { verb: 'create', name: 'object-last', value: this.#recorder.nextValue() } as const;
      const { outcome } = await this.#clients[0]!.perform(api, call, server.ended);
      const version = outcome.type === 'written' ? (outcome.version ?? 0) : 0;
      while (!server.hasEnded && this.#watchers.some((watcher) => watcher.version < version)) await delay(2);
      await this.#clients[0]!.perform(api, { verb: 'list' }, server.ended);
      await server.kill();
    });
  }

  /** Ends the server that an exception has left. */
  async stop(): Promise<void> {
    await this.#server?.kill();
  }

  report(): RobustnessReport {
    const { operations, watches } = this.#recorder;
    return {
      problems: [...this.#problems, ...checkHistory({ operations, watches })],
      operations: operations.length,
      acknowledged: this.#recorder.count('written'),
      unknown: this.#recorder.count('unknown'),
      refused: this.#recorder.refusedWrites,
      events: watches.reduce((sum, { events }) => sum + events.length, 0),
      lists: this.#watchers.reduce((sum, { lists }) => sum + lists, 0),
      ...this.#counts,
    };
  }

  /** Starts a server and lets clients and watchers work until `interfere` has ended it. */
  async #load(
    interfere: (server: ServerProcess, api: ApiClient, clientsDone: () => Promise<void>) => Promise<void>,
  ): Promise<void> {
    const server = new ServerProcess(this.#data);
    this.#server = server;
    const api = await server.connect();
    if (api === undefined) throw new Error(`the server did not start: ${server.errors}`);
    const stop = new AbortController();
    const clients = this.#clients.map((client) => client.run(api, server.ended, stop.signal));
    const hasEnded = () => server.hasEnded;
    const watchers = this.#watchers.map((watcher) => watcher.run(api, hasEnded, server.endSignal));
    const { operations = 20 } = this.#options;
    const enough = this.#recorder.operations.length + operations;
    while (!server.hasEnded && this.#recorder.operations.length < enough) await delay(1);
    await delay(this.#random.int(300));
    await interfere(server, api, async () => {
      stop.abort();
      await Promise.all(clients);
    });
    stop.abort();
    await Promise.all([...clients, ...watchers]);
    api.close();
  }

  /** Large objects use the space that is left, until the server refuses them; then the limit is lifted. */
  async #fillDisk(server: ServerProcess, api: ApiClient): Promise<void> {
    const refused = this.#recorder.refusedWrites;
    server.limitFiles(statSync(join(this.#store, 'store.mdb')).size);
    const names: string[] = [];
    while (!server.hasEnded && this.#recorder.refusedWrites < refused + 5) {
      const name = `object-large-${this.#largeCount++}`;
      names.push(name);
      const call = { verb: 'create', name, value: this.#recorder.nextValue() } as const;
      await this.#clients[0]!.perform(api, call, server.ended, largeBytes);
    }
    // Half of them before the disk has space again: deletions have a reserve.
    for (const [index, name] of names.entries()) {
      if (index === Math.floor(names.length / 2)) server.limitFiles(undefined);
      await this.#clients[0]!.perform(api, { verb: 'delete', name }, server.ended);
    }
    const written = this.#recorder.count('written');
    while (!server.hasEnded && this.#recorder.count('written') < written + 20) await delay(2);
  }

  #crashed(end: string): void {
    this.#counts.crashes += 1;
    this.#problems.push(`the server ended by itself (${end})`);
  }

  async #damage(): Promise<void> {
    const count = this.#options.damagedCopies ?? 20;
    const copies = join(this.#folder, 'copies');
    const result = await tryDamagedCopies(this.#store, copies, count, this.#random);
    this.#problems.push(...result.problems);
    this.#counts.copiesComplete += result.complete;
    this.#counts.copiesRefused += result.refused;
  }
}
