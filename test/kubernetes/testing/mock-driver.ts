import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import { CsiClient } from '../../../src/csi/csi-client.ts';
import type { CsiMethodName, CsiReply, CsiRequestInit } from '../../../src/csi/csi-methods.ts';
import { realClock } from '../../../src/runtime/clock.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { Metrics } from '../../../src/runtime/metrics.ts';
import { until } from './run-scheduler.ts';

export interface MockDriverOptions {
  readonly name?: string;
  /** GiB of each segment, which the driver enforces. */
  readonly pools: Readonly<Record<string, number>>;
  /** Nodes with a node service of their own, in the segment of the same name. */
  readonly nodes?: readonly string[];
  /** More flags of `modules/csi-mock`. */
  readonly flags?: readonly string[];
}

/** A call that the driver got. */
export interface MockCall {
  readonly method: CsiMethodName;
  /** The request in protobuf's JSON form. */
  // biome-ignore lint/suspicious/noExplicitAny: the request of any method.
  readonly request: any;
  /** `OK`, or the name of a gRPC code. */
  readonly code: string;
}

/** csi-mock, the CSI driver in Go, as a process of its own with its sockets in a folder of its own. */
export class MockDriver {
  readonly name: string;
  readonly topologyKey = 'topology.mock.example.com/node';
  readonly folder = mkdtempSync(join(tmpdir(), 'csi-mock-'));
  readonly address = `unix://${join(this.folder, 'csi.sock')}`;
  readonly #process: ChildProcess;
  readonly #client: CsiClient;

  /** Ends with the test. */
  static async start(options: MockDriverOptions): Promise<MockDriver> {
    const driver = new MockDriver(options);
    onTestFinished(() => driver.#end());
    await driver.call('Probe', {});
    for (const node of options.nodes ?? []) await until(async () => existsSync(driver.#socketOf(node)));
    return driver;
  }

  private constructor({
    name = 'mock.example.com',
    pools,
    nodes = [],
    flags = ['--no-attach'],
  }: MockDriverOptions) {
    this.name = name;
    const args = [
      ...flags,
      ...['--topology-key', this.topologyKey, '--calls', join(this.folder, 'calls')],
      ...Object.entries(pools).flatMap(([segment, gib]) => ['--pool', `${segment}=${gib}`]),
      ...nodes.flatMap((node) => ['--node', `${node}=${this.#socketOf(node)}`]),
      ...[join(this.folder, 'csi.sock'), name],
    ];
    this.#process = spawn(inject('kubernetesPrograms')['csi-mock']!, args, { stdio: 'inherit' });
    this.#client = new CsiClient({
      address: this.address,
      clock: realClock,
      log: silentLog,
      metrics: new Metrics(),
    });
  }

  /** The value of `--csi-node` for a node. */
  nodeFlag(node: string): string {
    return `${node}=unix://${this.#socketOf(node)}`;
  }

  /** Calls the driver behind the back of whatever is tested. */
  call<Name extends CsiMethodName>(name: Name, request: CsiRequestInit<Name>): Promise<CsiReply<Name>> {
    return this.#client.call(name, request, { signal: new AbortController().signal, timeoutMs: 60_000 });
  }

  /** All calls so far, or those of a method. */
  calls(method?: CsiMethodName): readonly MockCall[] {
    // After the last line break there is nothing, or a call that is still being written.
    const lines = readFileSync(join(this.folder, 'calls'), 'utf8').split('\n').slice(0, -1);
    const calls = lines.map((line) => JSON.parse(line) as MockCall);
    return method === undefined ? calls : calls.filter((call) => call.method === method);
  }

  async volumeNames(): Promise<readonly string[]> {
    const { entries } = await this.call('ListVolumes', {});
    return entries.map(({ volume }) => volume?.volumeContext.name ?? '').sort();
  }

  #socketOf(node: string): string {
    return join(this.folder, `${node}.sock`);
  }

  #end(): void {
    this.#client.close();
    this.#process.kill('SIGKILL');
    rmSync(this.folder, { recursive: true });
  }
}
