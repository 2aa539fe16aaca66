import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { KubernetesCluster } from '../../src/cluster/kubernetes/client.ts';
import { realClock } from '../../src/runtime/clock.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import { builtProgram } from '../built-program.ts';
import { projectRoot } from '../project-root.ts';
import type { ProgramPaths } from './binaries.ts';
import {
  type ApiServerSettings,
  apiServerCommand,
  type BedFiles,
  bedFiles,
  type CommandLine,
  type ComponentSettings,
  type ControllerManagerSettings,
  controllerManagerCommand,
  etcdCommand,
  kwokCommand,
  schedulerCommand,
  stowageCommand,
} from './command-lines.ts';
import {
  type BedCredentials,
  kubeconfigPath,
  statusOf,
  type UserName,
  writeCredentials,
  writeKubeconfigs,
} from './credentials.ts';
import { freePort } from './ports.ts';
import { ProcessSupervisor } from './process-supervisor.ts';
import type { ProgramName } from './programs.ts';

/** Alone on the machine an API server takes three seconds, but the machine may be busy. */
const readyMaxMs = 240_000;
const pollMs = 50;
/** Another process may take a port between our choice and its use. */
const startsMax = 3;
const callMaxBytes = 64 * 1024 * 1024;

export interface TestBedOptions {
  readonly programs: ProgramPaths;
  /** Kubernetes' API server with etcd, or our own without controllers. */
  readonly server?: 'kubernetes' | 'stowage';
  /** For our own server: the value of `--controllers`; none by default. */
  readonly stowageControllers?: string;
  readonly apiServer?: Pick<ApiServerSettings, 'admission' | 'extraFlags'>;
  /** Writes are flushed to the disk before they are acknowledged; for benchmarks. */
  readonly isDurable?: boolean;
  /** Components beside the API server, with their settings; none by default. */
  readonly scheduler?: true | Omit<ComponentSettings, 'kubeconfig'>;
  readonly controllerManager?: true | Omit<ControllerManagerSettings, 'kubeconfig'>;
  /** Simulates all nodes and their pods. */
  readonly kwok?: boolean;
}

/** The components that a test bed can run. */
export type Component =
  | Exclude<ProgramName, 'kubectl' | 'kubelet' | 'csi-sanity' | 'csi-mock' | 'helm'>
  | 'stowage';

const components: readonly Component[] = [
  'etcd',
  'kube-apiserver',
  'stowage',
  'kube-scheduler',
  'kube-controller-manager',
  'kwok',
];

export interface CallResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

/**
 * A cluster for a test: real programs on loopback, with their own ports, certificates and data, so that any number can run side by side.
 * The programs end with `close`, and also when the process that started them ends. Logs stay until `removeLogs`.
 */
export class TestBed implements AsyncDisposable {
  /** Logs are in its subfolder `logs`. */
  readonly folder: string;
  readonly #options: TestBedOptions;
  readonly #files: BedFiles;
  readonly #supervisor: ProcessSupervisor;
  readonly #connections: KubernetesCluster[] = [];

  private constructor(folder: string, options: TestBedOptions) {
    this.folder = folder;
    this.#options = options;
    this.#files = bedFiles(join(folder, 'data'));
    this.#supervisor = new ProcessSupervisor({ data: this.#files.folder, logs: join(folder, 'logs') });
  }

  /** Resolves when the API server is ready. If a component fails to start, the error contains its logs. */
  static async start(options: TestBedOptions): Promise<TestBed> {
    const folder = await mkdtemp(join(tmpdir(), 'stowage-bed-'));
    await mkdir(join(folder, 'logs'));
    const bed = new TestBed(folder, options);
    try {
      await bed.#startServer();
      await bed.#startComponents();
      return bed;
    } catch (error) {
      await bed.close();
      throw new Error(`${(error as Error).message}\n${bed.describeLogs()}`, { cause: error });
    }
  }

  /** The kubeconfig of the admin. */
  get kubeconfig(): string {
    return this.kubeconfigOf('admin');
  }

  /** Our own server has only the admin. */
  kubeconfigOf(user: UserName): string {
    return kubeconfigPath(this.#files, this.#options.server === 'stowage' ? 'admin' : user);
  }

  /** The process that ends all programs; for tests of this mechanism. */
  get supervisorPid(): number {
    return this.#supervisor.pid;
  }

  async connect(user: UserName = 'admin'): Promise<KubernetesCluster> {
    const kubeconfig = this.kubeconfigOf(user);
    const clock = realClock;
    const settings = { kubeconfig, clock, random: systemRandom, env: {}, rateLimit: false } as const;
    const cluster = await KubernetesCluster.connect(settings);
    this.#connections.push(cluster);
    return cluster;
  }

  /** Runs the kubectl of the same version; `input` is for `-f -`. */
  async kubectl(args: readonly string[], input = ''): Promise<CallResult> {
    const env = { PATH: process.env.PATH ?? '', HOME: this.#files.folder, KUBECONFIG: this.kubeconfig };
    return await call(this.#program('kubectl'), args, { env, input });
  }

  logs(component: Component): string {
    return this.#supervisor.log(component);
  }

  pidOf(component: Component): number | undefined {
    return this.#supervisor.pidOf(component);
  }

  /** For settings that need a running bed; otherwise use the options. */
  async startScheduler(given: Omit<ComponentSettings, 'kubeconfig'>): Promise<void> {
    const settings = { ...given, kubeconfig: this.kubeconfigOf('scheduler') };
    const program = this.#program('kube-scheduler');
    await this.#run('kube-scheduler', schedulerCommand(program, this.#files, settings));
  }

  async stop(component: Component, signal?: NodeJS.Signals): Promise<void> {
    await this.#supervisor.stop(component, signal);
  }

  /** Stops the component and starts it again. For an API server, resolves when it is ready. */
  async restart(component: Component, signal?: NodeJS.Signals): Promise<void> {
    await this.#supervisor.restart(component, signal);
    if (component === 'kube-apiserver' || component === 'stowage') await this.#ready();
  }

  /** Sends SIGSTOP or SIGCONT, without waiting for its effect. */
  async signal(component: Component, signal: NodeJS.Signals): Promise<void> {
    await this.#supervisor.signal(component, signal);
  }

  /** The last lines of every log, and the path of the logs. */
  describeLogs(linesMax = 30): string {
    const parts = components.flatMap((component) => {
      const text = this.logs(component).trimEnd();
      if (text === '') return [];
      const state = this.#supervisor.isRunning(component) ? 'running' : 'exited';
      return [`--- ${component} (${state})`, ...text.split('\n').slice(-linesMax)];
    });
    return [`the logs of the bed are in ${join(this.folder, 'logs')}`, ...parts].join('\n');
  }

  /** Stops everything and removes the data. Logs stay. */
  async close(): Promise<void> {
    await Promise.all(this.#connections.map((cluster) => cluster.close()));
    await this.#supervisor.end();
  }

  /** After `close`: removes the logs too. */
  async removeLogs(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
    await this.removeLogs();
  }

  #ready: () => Promise<void> = async () => {};

  async #startServer(): Promise<void> {
    const access = await writeCredentials(this.#files);
    if (this.#options.server === 'stowage') await this.#startStowage();
    else await this.#startKubernetes(access);
  }

  async #startStowage(): Promise<void> {
    const { kubeconfig } = this;
    this.#ready = () => this.#until('stowage', async () => existsSync(kubeconfig));
    const program = builtProgram(pathToFileURL(join(projectRoot, 'src/cli/main.ts')));
    await this.#run(
      'stowage',
      stowageCommand(program, this.#files, {
        kubeconfig,
        controllers: this.#options.stowageControllers ?? 'none',
      }),
    );
    await this.#ready();
  }

  async #startKubernetes(access: BedCredentials, start = 1): Promise<void> {
    const port = await freePort();
    const etcd = { client: await freePort(), peer: await freePort() };
    const settings = { ...this.#options.apiServer, port, etcdPort: etcd.client };
    this.#ready = () => this.#until('kube-apiserver', () => isServing(port, access));
    await writeKubeconfigs(this.#files, access, port);
    await this.#run('etcd', etcdCommand(this.#program('etcd'), this.#files, etcd, this.#options.isDurable));
    const command = apiServerCommand(this.#program('kube-apiserver'), this.#files, settings);
    await this.#run('kube-apiserver', command);
    try {
      await this.#ready();
    } catch (error) {
      if (start === startsMax || !this.#hasPortClash()) throw error;
      await Promise.all([this.stop('kube-apiserver', 'SIGKILL'), this.stop('etcd', 'SIGKILL')]);
      await rm(join(this.#files.folder, 'etcd'), { recursive: true, force: true });
      await this.#startKubernetes(access, start + 1);
    }
  }

  #hasPortClash(): boolean {
    return (['etcd', 'kube-apiserver'] as const).some((name) =>
      /address already in use/.test(this.logs(name)),
    );
  }

  async #startComponents(): Promise<void> {
    const { scheduler, controllerManager, kwok } = this.#options;
    const files = this.#files;
    if (scheduler !== undefined) await this.startScheduler(scheduler === true ? {} : scheduler);
    if (controllerManager !== undefined) {
      const settings = {
        ...(controllerManager === true ? {} : controllerManager),
        kubeconfig: this.kubeconfig,
      };
      const program = this.#program('kube-controller-manager');
      await this.#run('kube-controller-manager', controllerManagerCommand(program, files, settings));
    }
    if (kwok === true) await this.#run('kwok', kwokCommand(this.#program('kwok'), files, this));
  }

  async #run(component: Component, command: CommandLine): Promise<void> {
    await this.#supervisor.start(component, command);
  }

  #program(name: ProgramName): string {
    const path = this.#options.programs[name];
    if (path === undefined) throw new Error(`${name} is not available`);
    return path;
  }

  /** Polls while the component, and those that it depends on, are running. */
  async #until(component: Component, isReady: () => Promise<boolean>): Promise<void> {
    const giveUpMs = Date.now() + readyMaxMs;
    while (!(await isReady())) {
      if (!this.#supervisor.isRunning(component)) throw new Error(`${component} exited before it was ready`);
      if (Date.now() > giveUpMs) throw new Error(`${component} was not ready within ${readyMaxMs} ms`);
      await sleep(pollMs);
    }
  }
}

/** The server is ready and has created the objects that every cluster has. */
async function isServing(port: number, access: BedCredentials): Promise<boolean> {
  if ((await statusOf(port, '/readyz', access)) !== 200) return false;
  return (await statusOf(port, '/api/v1/namespaces/default', access)) === 200;
}

interface CallOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly input: string;
}

function call(program: string, args: readonly string[], { env, input }: CallOptions): Promise<CallResult> {
  return new Promise((resolve, reject) => {
    const child = execFile(program, args, { env, maxBuffer: callMaxBytes }, (error, stdout, stderr) => {
      if (error !== null && typeof error.code !== 'number') reject(error);
      else resolve({ stdout, stderr, code: typeof error?.code === 'number' ? error.code : 0 });
    });
    child.stdin?.on('error', () => {}); // The program may exit without reading its input.
    child.stdin?.end(input);
  });
}
