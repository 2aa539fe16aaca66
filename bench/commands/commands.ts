/**
 * Commands that only read, in processes of their own, on a large cluster of the embedded server over HTTPS; and how long `up` takes to restart with it.
 * CPU times do not depend on what else the machine does.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { markDataDirectory } from '../../src/cli/up/data-directory.ts';
import { EmbeddedCluster } from '../../src/cluster/embedded-cluster.ts';
import { consoleKinds, resourceOfKind } from '../../src/console/state/console-objects.ts';
import { EmbeddedControlPlane } from '../../src/embedded/embedded-control-plane.ts';
import { silentLog } from '../../src/runtime/log.ts';
import { builtProgram } from '../../test/built-program.ts';
import { projectRoot } from '../../test/project-root.ts';
import { cpuSecondsOf, cpuSecondsOfChildren } from '../compare/process-usage.ts';
import { largeCluster } from '../console/large-cluster.ts';
import type { Benchmark, Row } from '../harness.ts';
import { inParallel } from '../in-parallel.ts';

const nodesDefault = 1_000;
const volumesDefault = 10_000;
const podsDefault = 3_000;
const repeats = 3;

const commands: readonly (readonly string[])[] = [
  ['explain'],
  ['explain', 'load/waiting-0'],
  ['plan', '--drain', 'node/node-00001'],
  ['headroom'],
  ['capacity'],
];

export const commandsBenchmark: Benchmark = {
  name: 'commands',
  summary: 'explain, plan, headroom and capacity on a large cluster over HTTPS; the restart of up with it',
  async run(progress, sizes = {}) {
    const { nodes = nodesDefault, pvs: volumes = volumesDefault, pods = podsDefault } = sizes;
    const data = mkdtempSync(join(tmpdir(), 'stowage-bench-'));
    try {
      await fill(data, { nodes, volumes, pods }, progress);
      const first = await Server.start(data, 'none');
      const rows: Row[] = [];
      for (const command of commands) rows.push(await measured(command, first, progress));
      await first.stop();
      for (const controllers of ['none', '*']) {
        const server = await Server.start(data, controllers);
        rows.push({
          work: 'restart',
          what: `up --controllers '${controllers}'`,
          ms: server.startMs,
          cpuMs: server.cpuMs,
        });
        await server.stop();
      }
      return rows;
    } finally {
      rmSync(data, { recursive: true, force: true });
    }
  },
};

const script = () => builtProgram(pathToFileURL(join(projectRoot, 'src/cli/main.ts')));

/** `stowage up` in a process of its own. */
class Server {
  readonly kubeconfig: string;
  /** Until it answers. */
  readonly startMs: number;
  readonly cpuMs: number;
  readonly #child: ReturnType<typeof spawn>;

  private constructor(data: string, child: ReturnType<typeof spawn>, startMs: number) {
    this.kubeconfig = join(data, 'kubeconfig');
    this.#child = child;
    this.startMs = startMs;
    this.cpuMs = this.usedMs();
  }

  static async start(data: string, controllers: string): Promise<Server> {
    const begun = performance.now();
    const flags = ['up', '--data', data, '--port', '0', '--controllers', controllers, '--no-console'];
    const child = spawn(process.execPath, [script(), ...flags], { stdio: ['ignore', 'pipe', 'ignore'] });
    await new Promise<void>((resolve, reject) => {
      child.stdout.once('data', () => resolve());
      child.once('exit', (code) => reject(new Error(`stowage up ended with status ${code}`)));
    });
    return new Server(data, child, Math.round(performance.now() - begun));
  }

  usedMs(): number {
    return Math.round(cpuSecondsOf(this.#child.pid ?? 0) * 1000);
  }

  async stop(): Promise<void> {
    const exited = new Promise<void>((resolve) => this.#child.once('exit', () => resolve()));
    this.#child.kill('SIGTERM');
    await exited;
  }
}

/** The fastest of some calls: what else the machine does only makes them slower. */
async function measured(
  command: readonly string[],
  server: Server,
  progress: (text: string) => void,
): Promise<Row> {
  let best: Row | undefined;
  for (let repeat = 0; repeat < repeats; repeat += 1) {
    const serverMs = server.usedMs();
    const { ms, cpuMs } = await called([...command, '--kubeconfig', server.kubeconfig]);
    const row = {
      work: 'command',
      what: command.join(' '),
      ms,
      cpuMs,
      serverCpuMs: server.usedMs() - serverMs,
    };
    progress(`${row.what}: ${ms} ms, ${cpuMs} ms of CPU time`);
    if (best === undefined || ms < Number(best.ms)) best = row;
  }
  return best!;
}

async function called(args: readonly string[]): Promise<{ readonly ms: number; readonly cpuMs: number }> {
  const begun = performance.now();
  const cpuSeconds = cpuSecondsOfChildren();
  const child = spawn(process.execPath, [script(), ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
  const status = await new Promise((resolve) => child.once('exit', resolve));
  // 3: what was asked for does not fit.
  if (status !== 0 && status !== 3) throw new Error(`${args.join(' ')} ended with status ${status}`);
  const cpuMs = Math.round((cpuSecondsOfChildren() - cpuSeconds) * 1000);
  return { ms: Math.round(performance.now() - begun), cpuMs };
}

/** In this process, which takes a tenth of the time that requests would take. */
async function fill(
  dataDirectory: string,
  sizes: { readonly nodes: number; readonly volumes: number; readonly pods: number },
  progress: (text: string) => void,
): Promise<void> {
  markDataDirectory(dataDirectory);
  const plane = await EmbeddedControlPlane.start({ dataDirectory, controllers: [], log: silentLog });
  const cluster = new EmbeddedCluster({ registry: plane.server.registry, manager: 'bench' });
  const resources = new Map(consoleKinds.map((kind) => [kind as string, resourceOfKind(kind)]));
  const [namespace, ...objects] = [...largeCluster(sizes)];
  await cluster.resource(resources.get('Namespace')!).create(namespace!);
  await inParallel(objects.length, async (at) => {
    const object = objects[at]!;
    const { status } = object as { readonly status?: object };
    const resource = cluster.resource(resources.get(object.kind ?? '')!);
    const created = await resource.create(object);
    // The server drops the status of most objects that are created.
    if (status !== undefined)
      await resource.update({ ...created, status } as never, { subresource: 'status' });
    if (at % 5_000 === 4_999) progress(`${at + 1} objects`);
  });
  await plane.close();
}
