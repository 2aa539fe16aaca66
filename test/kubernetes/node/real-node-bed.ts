import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import { nodes, serviceAccounts } from '../../../src/kube/resources.ts';
import { TestBed, type TestBedOptions } from '../test-bed.ts';
import { packBusybox } from './busybox-image.ts';
import { NodeNetwork } from './node-network.ts';
import { RealNode } from './real-node.ts';

export interface RealNodeBedOptions extends Omit<TestBedOptions, 'programs' | 'apiServer'> {
  /** Archives of images that every node has, beside that of test pods. */
  readonly images?: readonly string[];
}

/** A test bed of real programs with real nodes. Ends with the test, and shows the logs of nodes if the test failed. */
export class RealNodeBed {
  readonly bed: TestBed;
  readonly #network: NodeNetwork;
  readonly #folder: string;
  readonly #images: readonly string[];
  readonly #nodes: RealNode[] = [];

  static async start({ images = [], ...options }: RealNodeBedOptions = {}): Promise<RealNodeBed> {
    const folder = await mkdtemp(join(tmpdir(), 'stowage-node-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const network = await NodeNetwork.create();
    onTestFinished(() => network.remove());
    const bed = await TestBed.start({
      controllerManager: true,
      ...options,
      apiServer: { admission: 'full', extraFlags: network.apiServerFlags },
      programs: inject('kubernetesPrograms'),
    });
    const real = new RealNodeBed(bed, network, folder, [await packBusybox(folder), ...images]);
    onTestFinished(async ({ task }) => {
      if (task.result?.state === 'fail') process.stderr.write(`${real.#logs()}\n`);
      await real.#end();
    });
    return real;
  }

  private constructor(bed: TestBed, network: NodeNetwork, folder: string, images: readonly string[]) {
    this.bed = bed;
    this.#network = network;
    this.#folder = folder;
    this.#images = images;
  }

  /** Resolves when the node is ready, and pods can be created. */
  async addNode(name: string, labels: Readonly<Record<string, string>> = {}): Promise<RealNode> {
    const kubelet = inject('kubernetesPrograms').kubelet;
    if (kubelet === undefined) throw new Error('kubelet is not available');
    const { kubeconfig, apiServer } = await this.#reachableKubeconfig();
    const node = await RealNode.start({
      name,
      index: this.#nodes.length,
      network: this.#network,
      folder: join(this.#folder, name),
      kubelet,
      kubeconfig,
      apiServer,
      images: this.#images,
      labels,
    });
    this.#nodes.push(node);
    await this.#untilReady(name);
    return node;
  }

  /** As the admin's, with the address of this machine in the nodes' network. The certificate is valid for localhost. */
  async #reachableKubeconfig(): Promise<{ readonly kubeconfig: string; readonly apiServer: string }> {
    const text = await readFile(this.bed.kubeconfig, 'utf8');
    const [, port = ''] = /127\.0\.0\.1:(\d+)/.exec(text) ?? [];
    const apiServer = `${this.#network.address}:${port}`;
    const kubeconfig = join(this.#folder, 'kubeconfig');
    const reachable = JSON.parse(text.replace(`127.0.0.1:${port}`, apiServer));
    reachable.clusters[0].cluster['tls-server-name'] = 'localhost';
    await writeFile(kubeconfig, JSON.stringify(reachable), { mode: 0o600 });
    return { kubeconfig, apiServer };
  }

  /** Also waits for the service account that every pod needs. */
  async #untilReady(name: string): Promise<void> {
    const cluster = await this.bed.connect();
    const isReady = async () => {
      const node = await cluster.resource(nodes).get({ name });
      await cluster.resource(serviceAccounts).get({ namespace: 'default', name: 'default' });
      return (
        node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
      );
    };
    const giveUpMs = Date.now() + readyMaxMs;
    while (!(await isReady().catch(() => false))) {
      if (Date.now() > giveUpMs) throw new Error(`node ${name} was not ready\n${this.#logs()}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  #logs(): string {
    return [...this.#nodes.map((node) => node.logs()), this.bed.describeLogs()].join('\n');
  }

  async #end(): Promise<void> {
    for (const node of this.#nodes) await node.stop();
    await this.bed.close();
    await this.bed.removeLogs();
  }
}

/** A node takes two seconds on a machine with nothing else to do. */
const readyMaxMs = 240_000;
