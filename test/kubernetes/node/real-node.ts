import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { mkdir, readlink, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { projectRoot } from '../../project-root.ts';
import { ProcessSupervisor } from '../process-supervisor.ts';
import { type CommandResult, runCommand } from './commands.ts';
import { NodeCgroups } from './node-cgroups.ts';
import type { NodeNetwork } from './node-network.ts';

const initScript = join(projectRoot, 'test/kubernetes/node/node-init.sh');
const pollMs = 20;

export interface RealNodeOptions {
  readonly name: string;
  /** From 0, unique in the network. */
  readonly index: number;
  readonly network: NodeNetwork;
  /** Where the node keeps everything; removed with it. */
  readonly folder: string;
  readonly kubelet: string;
  /** The kubeconfig of a user who may do what a kubelet does, with an address that the node can reach. */
  readonly kubeconfig: string;
  readonly apiServer: string;
  /** Archives of images. */
  readonly images: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
}

/**
 * A real kubelet with containerd, in namespaces of its own. It has the paths of a real node; what it mounts and starts ends with it, also
 * if the test process is killed.
 */
export class RealNode {
  readonly name: string;
  readonly #options: RealNodeOptions;
  readonly #supervisor: ProcessSupervisor;
  readonly #cgroups: NodeCgroups;
  #initPid = 0;

  static async start(options: RealNodeOptions): Promise<RealNode> {
    const node = new RealNode(options);
    try {
      await node.#start();
      return node;
    } catch (error) {
      const logs = node.logs();
      await node.stop();
      throw new Error(`node ${options.name}: ${(error as Error).message}\n${logs}`, { cause: error });
    }
  }

  private constructor(options: RealNodeOptions) {
    this.name = options.name;
    this.#options = options;
    const { folder } = options;
    mkdirSync(join(folder, 'logs'), { recursive: true });
    this.#supervisor = new ProcessSupervisor({ data: join(folder, 'data'), logs: join(folder, 'logs') });
    this.#cgroups = new NodeCgroups(`${process.pid}-${options.name}`);
  }

  /** The kubeconfig of the admin, for programs on the node. */
  get kubeconfig(): string {
    return this.#options.kubeconfig;
  }

  /** The node's `/var/lib/kubelet`, as this machine sees it. */
  get kubeletFolder(): string {
    return this.#file('kubelet');
  }

  /** Runs a command on the node, with the node's mounts, processes and network. */
  async exec(program: string, ...args: readonly string[]): Promise<CommandResult> {
    return await runCommand('nsenter', ...this.#inside(program, args));
  }

  /** Starts a program on the node, which runs until the node ends or `stopProgram` is called. */
  async startProgram(name: string, program: string, ...args: readonly string[]): Promise<void> {
    const env = { PATH: process.env.PATH ?? '', NO_COLOR: '1' };
    await this.#supervisor.start(name, { program: 'nsenter', args: this.#inside(program, args), env });
  }

  /** nsenter and the program are one process group, and both get the signal. The program may need longer to end. */
  async stopProgram(name: string, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const children = childrenOf(this.#supervisor.pidOf(name) ?? 0);
    await this.#supervisor.stop(name, signal);
    for (const child of children) while (await isRunning(child)) await sleep(pollMs);
  }

  /** What a program that `startProgram` started has printed. */
  printed(name: string): string {
    return this.#supervisor.log(name);
  }

  #inside(program: string, args: readonly string[]): readonly string[] {
    const namespaces = ['-m', '-p', '-n', '-u', '-i', '-C'];
    return ['-t', `${this.#initPid}`, ...namespaces, '--', program, ...args];
  }

  /** After `stopKubelet`. */
  async startKubelet(): Promise<void> {
    await rm(this.#file('kubelet-stopped'), { force: true });
  }

  /** Kills the kubelet, and does not start it again. Its pods keep running. */
  async stopKubelet(): Promise<void> {
    await writeFile(this.#file('kubelet-stopped'), '');
    await this.exec('pkill', '-9', '-x', 'kubelet');
  }

  /** Restarts the kubelet with other thresholds of hard eviction, such as `{ 'nodefs.available': '99%' }`; without any, it evicts nothing. */
  async setEvictionThresholds(thresholds: Readonly<Record<string, string>> = {}): Promise<void> {
    await this.stopKubelet();
    await this.#writeConfiguration(thresholds);
    await this.startKubelet();
  }

  async #writeConfiguration(thresholds: Readonly<Record<string, string>> = {}): Promise<void> {
    const configuration = kubeletConfiguration(this.#file('resolv.conf'), thresholds);
    await writeFile(this.#file('kubelet.yaml'), JSON.stringify(configuration));
  }

  /** The kubelet's log, and what failed before it started. */
  logs(): string {
    return ['kubelet.log', 'containerd.log']
      .map((file) => this.#file(file))
      .filter((file) => existsSync(file))
      .map((file) => `--- ${file}\n${readFileSync(file, 'utf8').trimEnd().split('\n').slice(-40).join('\n')}`)
      .concat(`--- node-init.sh\n${this.#supervisor.log('node')}`)
      .join('\n');
  }

  async stop(): Promise<void> {
    await this.#supervisor.stop('node', 'SIGKILL');
    await this.#supervisor.end();
    await this.#cgroups.remove();
  }

  async #start(): Promise<void> {
    const { name, index, network, kubelet, kubeconfig, apiServer, images, labels = {} } = this.#options;
    await mkdir(this.#file('.'), { recursive: true });
    await this.#cgroups.create();
    await this.#writeConfiguration();
    const env = {
      PATH: process.env.PATH ?? '',
      HOME: this.#file('.'),
      NODE: name,
      DIR: this.#file('.'),
      NODE_IP: network.nodeAddress(index),
      POD_CIDR: network.podRange(index),
      API_SERVER: apiServer,
      IMAGES: images.join(' '),
      CGROUPS: this.#cgroups.version,
      KUBELET: kubelet,
      KUBECONFIG: kubeconfig,
      NODE_LABELS: Object.entries(labels)
        .map((pair) => pair.join('='))
        .join(','),
    };
    // A shell enters the cgroups before it becomes the parent of the node's process 1.
    const enter = 'for folder in "$@"; do echo $$ > "$folder/cgroup.procs"; done';
    const unshare = 'exec unshare --mount --pid --net --uts --ipc --cgroup --fork --kill-child --mount-proc';
    const args = ['-c', `${enter}; ${unshare} ${initScript}`, 'node', ...this.#cgroups.folders];
    await this.#supervisor.start('node', { program: '/bin/bash', args, env });
    this.#initPid = await this.#findInit();
    await network.connect(this.#initPid, index);
  }

  /** The child of `unshare`, once it has its own network. */
  async #findInit(): Promise<number> {
    const parent = this.#supervisor.pidOf('node') ?? 0;
    const own = await readlink('/proc/self/ns/net');
    while (this.#supervisor.isRunning('node')) {
      const [child = ''] = childrenOf(parent);
      const isShell = readFileSync(`/proc/${parent}/comm`, 'utf8').trim() !== 'unshare';
      if (!isShell && child !== '' && (await readlink(`/proc/${child}/ns/net`)) !== own) return Number(child);
      await sleep(pollMs);
    }
    throw new Error('it ended while it started');
  }

  #file(name: string): string {
    return join(this.#options.folder, 'data', name);
  }
}

function childrenOf(pid: number): readonly string[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .split(' ')
    .filter((child) => child !== '');
}

/** A process that has ended has no program, even if its parent has not noticed yet. */
async function isRunning(pid: string): Promise<boolean> {
  return await readlink(`/proc/${pid}/exe`).then(
    () => true,
    () => false,
  );
}

/** Readable limits are of no interest here: a full disk of this machine must not evict the pods of a test, unless it asks for that. */
function kubeletConfiguration(resolvConf: string, thresholds: Readonly<Record<string, string>>): object {
  const signals = ['memory.available', 'nodefs.available', 'nodefs.inodesFree', 'imagefs.available'];
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    // The API server connects without a certificate, for logs and exec.
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
    cgroupDriver: 'cgroupfs',
    failCgroupV1: false,
    failSwapOn: false,
    resolvConf,
    // No server answers there; without it, every pod gets a warning.
    clusterDNS: ['10.96.0.10'],
    evictionHard: { ...Object.fromEntries(signals.map((name) => [name, '0%'])), ...thresholds },
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    readOnlyPort: 0,
    // A volume that grows is noticed then.
    syncFrequency: '1s',
    nodeStatusUpdateFrequency: '4s',
    volumeStatsAggPeriod: '10s',
    logging: { verbosity: 2 },
  };
}
