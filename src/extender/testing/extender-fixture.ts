import { request } from 'node:https';
import { StandaloneBinding } from '../../bind/standalone-binding.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { ada, authorityCert, localhost } from '../../cluster/kubernetes/testing/certificates.ts';
import { RealTimeCluster } from '../../controllers/testing/real-time-cluster.ts';
import { capacityPoolKey } from '../../engine/records/pool-record.ts';
import type { Pod } from '../../kube/api/core.ts';
import {
  csiDrivers,
  csiStorageCapacities,
  nodes,
  persistentVolumeClaims,
  pods,
  storageClasses,
} from '../../kube/resources.ts';
import { annotations, labels } from '../../kube/well-known.ts';
import { realClock } from '../../runtime/clock.ts';
import { seededRandom } from '../../runtime/random.ts';
import { Supervisor } from '../../runtime/supervisor.ts';
import { Extender } from '../extender.ts';
import { ExtenderServer } from '../extender-server.ts';

export const namespace = 'default';
export const driver = 'disk.csi';
const random = seededRandom('extender');

export interface ExtenderResponse {
  readonly status: number;
  readonly text: string;
  /** The text parsed as JSON. */
  readonly body: unknown;
}

interface RequestOptions {
  /** Without a client certificate. */
  readonly isAnonymous?: boolean;
  readonly method?: string;
}

interface ExtenderFixtureOptions {
  readonly holdMs?: number;
  /** Without a client authority: clients need no certificate, and /bind is not allowed. */
  readonly isOpen?: boolean;
  readonly volumeScheduling?: boolean;
}

/** An extender on loopback with an in-memory cluster. The class `fast` has volumes of a CSI driver, in pools of each node. */
export class ExtenderFixture implements AsyncDisposable {
  readonly #environment: RealTimeCluster;
  readonly binding: StandaloneBinding;
  readonly #server: ExtenderServer;
  readonly #supervisor: Supervisor;

  private constructor(
    environment: RealTimeCluster,
    binding: StandaloneBinding,
    { server, supervisor }: { readonly server: ExtenderServer; readonly supervisor: Supervisor },
  ) {
    this.#environment = environment;
    this.binding = binding;
    this.#server = server;
    this.#supervisor = supervisor;
  }

  static async start(options: ExtenderFixtureOptions = {}): Promise<ExtenderFixture> {
    const { holdMs, isOpen = false, volumeScheduling } = options;
    const environment = await RealTimeCluster.start('pv-binder');
    const { cluster } = environment;
    await cluster.resource(storageClasses).create({
      metadata: { name: 'fast' },
      provisioner: driver,
      volumeBindingMode: 'WaitForFirstConsumer',
    });
    await cluster
      .resource(csiDrivers)
      .create({ metadata: { name: driver }, spec: { storageCapacity: true } });
    const supervisor = new Supervisor({ clock: realClock, random, onCrash: () => {} });
    const { signal } = new AbortController();
    const shared = { cluster, clock: realClock, random, supervisor, volumeScheduling, onError: () => {} };
    const binding = (await StandaloneBinding.open(shared, signal))!;
    const extender = new Extender({ binding, holdMs, signal });
    const clientAuthority = isOpen ? undefined : authorityCert;
    const tls = { certificate: localhost.cert, key: localhost.key, clientAuthority };
    const onError = (error: unknown) => console.error(error);
    const server = await ExtenderServer.listen({ extender, tls, host: '127.0.0.1', port: 0, onError });
    return new ExtenderFixture(environment, binding, { server, supervisor });
  }

  get port(): number {
    return Number(new URL(this.#server.url).port);
  }

  get cluster(): Cluster {
    return this.#environment.cluster;
  }

  // ── Requests ──

  post(path: string, body: unknown, options: RequestOptions = {}): Promise<ExtenderResponse> {
    return this.send(path, JSON.stringify(body), options);
  }

  send(
    path: string,
    text: string,
    { isAnonymous = false, method = 'POST' }: RequestOptions = {},
  ): Promise<ExtenderResponse> {
    const options = {
      method,
      ca: authorityCert,
      agent: false,
      ...(isAnonymous ? {} : { cert: ada.cert, key: ada.key }),
      headers: { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) },
    } as const;
    return new Promise((resolve, reject) => {
      const sent = request(`${this.#server.url}${path}`, options, (response) => {
        let received = '';
        response.setEncoding('utf8').on('data', (chunk) => {
          received += chunk;
        });
        response.once('end', () => {
          const isJson = response.headers['content-type'] === 'application/json';
          const parsed: unknown = isJson ? JSON.parse(received) : undefined;
          resolve({ status: response.statusCode ?? 0, text: received, body: parsed });
        });
      });
      sent.once('error', reject);
      sent.end(method === 'GET' ? undefined : text);
    });
  }

  async filter(pod: Pod, names: readonly string[]): Promise<Filtered> {
    const { body } = await this.post('/filter', { Pod: pod, Nodes: null, NodeNames: names });
    return body as Filtered;
  }

  // ── Objects ──

  /** Creates a node, with a storage pool if `free` is given. */
  async node(name: string, free?: string): Promise<void> {
    const { cluster } = this;
    await cluster.resource(nodes).create({ metadata: { name, labels: { [labels.hostname]: name } } });
    await this.observed(() => this.binding.index.nodes.row(name) !== undefined);
    if (free !== undefined) await this.pool(`pool-${name}`, free, { [labels.hostname]: name });
  }

  /** A pool that the nodes with these labels can use. */
  async pool(name: string, free: string, matchLabels: Readonly<Record<string, string>>): Promise<void> {
    await this.cluster.resource(csiStorageCapacities).create({
      metadata: { namespace, name },
      storageClassName: 'fast',
      nodeTopology: { matchLabels },
      capacity: free,
    });
    await this.observed(
      () => this.binding.index.pools.row(capacityPoolKey(`${namespace}/${name}`)) !== undefined,
    );
  }

  /** Creates a pod with one claim of each size. */
  async pod(name: string, ...sizes: readonly string[]): Promise<Pod> {
    const { cluster } = this;
    const claimNames = sizes.map((_, at) => `${name}-${at}`);
    for (const [at, storage] of sizes.entries()) {
      await cluster.resource(persistentVolumeClaims).create({
        metadata: { namespace, name: claimNames[at]! },
        spec: {
          accessModes: ['ReadWriteOnce'],
          storageClassName: 'fast',
          resources: { requests: { storage } },
        },
      });
    }
    return await cluster.resource(pods).create({
      metadata: { namespace, name },
      spec: {
        containers: [{ name: 'main', image: 'pause' }],
        volumes: claimNames.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
      },
    });
  }

  /** Writes the selected node, as kube-scheduler does after it has chosen one. */
  async select(claimName: string, node: string): Promise<void> {
    const body = { metadata: { annotations: { [annotations.selectedNode]: node } } };
    const key = { namespace, name: claimName };
    await this.cluster.resource(persistentVolumeClaims).patch(key, { type: 'merge', body });
    await this.observed(
      () => this.binding.index.claims.get(`${namespace}/${claimName}`)?.selectedNode === node,
    );
  }

  /** Waits until the extender's cache satisfies the condition. */
  async observed(condition: () => boolean): Promise<void> {
    const never = new AbortController().signal;
    while (!condition()) await this.binding.nextChange(never);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.close();
    this.binding.close();
    await this.#supervisor.close();
    await this.#environment[Symbol.asyncDispose]();
  }
}

export interface Filtered {
  readonly NodeNames: readonly string[] | null;
  readonly FailedNodes: Readonly<Record<string, string>>;
  readonly FailedAndUnresolvableNodes: Readonly<Record<string, string>>;
  readonly Error: string;
}
