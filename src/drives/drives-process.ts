import type { Cluster } from '../cluster/cluster.ts';
import { CsiServer, type CsiServices } from '../csi/csi-server.ts';
import { ServedCallMetrics } from '../csi/served-call-metrics.ts';
import type { Node } from '../kube/api/core.ts';
import { nodes as nodesResource } from '../kube/resources.ts';
import { drivesDriver } from '../kube/stowage/drive.ts';
import { Informer } from '../reconcile/informer/informer.ts';
import { Leadership, type LeadershipChange } from '../reconcile/leases/leadership.ts';
import { meteredLeadership } from '../reconcile/leases/leadership-metrics.ts';
import { untilAborted } from '../runtime/abort.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Ids } from '../runtime/ids.ts';
import type { Log } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Random } from '../runtime/random.ts';
import type { Supervisor } from '../runtime/supervisor.ts';
import { nodeExistence } from './controller/drive-cache.ts';
import { meterDrives } from './controller/drive-metrics.ts';
import { startLedgerComparison } from './controller/ledger-comparison.ts';
import { serveController } from './controller/serve-controller.ts';
import { drivesServices } from './drives-services.ts';
import type { DriveHost } from './host/drive-host.ts';
import { KubeletRegistration } from './node/kubelet-registration.ts';
import { NodeDriver } from './node/node-driver.ts';

/** The node service of the process. */
export interface DrivesNodeOptions {
  readonly nodeName: string;
  readonly host: DriveHost;
  /** Drives are mounted in it; absolute. */
  readonly drivesRoot: string;
  /** Labels of the Node that are topology segments beside the well-known ones. */
  readonly topologyKeys: readonly string[];
  /** Called after the drives are mounted. Rejects if the kernel does not enforce project quota. */
  readonly checkQuota: () => Promise<void>;
  /** The directory that the kubelet watches, and the socket of the driver as the kubelet sees it; undefined: not registered. */
  readonly registration: { readonly directory: string; readonly endpoint: string } | undefined;
}

export interface DrivesProcessOptions {
  /** The socket to listen at, as `unix:///PATH`. */
  readonly endpoint: string;
  /** The flag or setting of `endpoint`, for errors. */
  readonly endpointSource: string;
  readonly hasController: boolean;
  /** Undefined: without the node service. */
  readonly node: DrivesNodeOptions | undefined;
  readonly cluster: Cluster;
  /** Resolves when the API server answers; with false if `signal` aborted before. */
  readonly untilReached: (signal: AbortSignal) => Promise<boolean>;
  /** A connection for the Lease, so that renewals never wait behind other requests. */
  readonly connectForLease: () => Promise<Cluster>;
  /** The name of this process in the Lease and in Events; different in every process. */
  readonly identity: string;
  readonly version: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly supervisor: Supervisor;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** Calls in progress may end within this time when the process stops. */
export const callGraceMs = 1_000;

/**
 * The CSI driver for local drives as a separate process, with the controller service, the node service, or both.
 *
 * The socket of a node service appears when the drives of the node are mounted, because the kubelet calls it as soon as it exists. The controller
 * service answers Unavailable before this process leads. It reads the drives after it has become leader, so that it sees
 * everything that the previous leader wrote.
 */
export class DrivesProcess {
  readonly #options: DrivesProcessOptions;
  #controller: CsiServices['controller'];
  #server: CsiServer | undefined;
  #registration: KubeletRegistration | undefined;

  constructor(options: DrivesProcessOptions) {
    this.#options = options;
  }

  /** Whether the socket exists. A controller that does not lead is ready too: it can become leader at any time. */
  get isServing(): boolean {
    return this.#server !== undefined;
  }

  /** Resolves with a message when the Lease is lost, and with undefined when `signal` aborted. Rejects if it cannot serve. */
  async run(signal: AbortSignal): Promise<string | undefined> {
    const { node, hasController, untilReached } = this.#options;
    // A controller that waits for its API server reports that in its responses.
    if (node === undefined) await this.#serve(undefined);
    if (!(await untilReached(signal))) return undefined;
    if (node !== undefined && !(await this.#startNode(node, signal))) return undefined;
    if (hasController) return await this.#elect(signal);
    await untilAborted(signal);
    return undefined;
  }

  /** Ends the registration first, so that the kubelet sends no new calls. */
  async stop(): Promise<void> {
    await this.#registration?.stop();
    await this.#server?.stop(callGraceMs);
  }

  /** Resolves with false if `signal` aborted before the drives were mounted. */
  async #startNode(node: DrivesNodeOptions, signal: AbortSignal): Promise<boolean> {
    const { clock, log } = this.#options;
    const driver = new NodeDriver({ ...this.#options, ...node });
    if (!(await driver.start(signal))) return false;
    // The kernel may have loaded XFS only now.
    await node.checkQuota();
    log.info(`${driver.drives.names.length} drives of node ${node.nodeName} are known`);
    await this.#serve(driver.methods);
    if (node.registration === undefined) return true;
    const registration = await KubeletRegistration.start({ ...node.registration, clock, log });
    this.#registration = registration;
    driver.topology.onChange((after, before) => registration.topologyChanged(after, before));
    return true;
  }

  async #serve(node: CsiServices['node']): Promise<void> {
    const { endpoint, endpointSource, hasController, version, clock, metrics, log } = this.#options;
    const controller = hasController ? { controller: () => this.#controller } : {};
    const calls = new ServedCallMetrics(metrics);
    this.#server = await CsiServer.start({
      address: endpoint,
      addressSource: endpointSource,
      services: drivesServices({ version, ...controller, node }),
      clock,
      log,
      onAnswer: (answer) => calls.record(answer),
    });
    log.info(`${drivesDriver} listens at ${this.#server.path}`);
  }

  async #elect(signal: AbortSignal): Promise<string | undefined> {
    const { connectForLease, identity, version, clock, random, supervisor, metrics, log } = this.#options;
    const leadership = new Leadership({
      controller: 'drives',
      cluster: await connectForLease(),
      identity,
      announcement: { version, gates: {} },
      clock,
      random,
      onChange: meteredLeadership(metrics, 'drives', (change) => log.info(changeText(change))),
      onError: (error) => log.warn('lease', { error }),
    });
    return await new Promise((resolve) => {
      supervisor.start('drives', async () => {
        try {
          await leadership.run((term) => this.#lead(leadership, term), signal);
          resolve(undefined);
        } catch (error) {
          log.warn('drives', { error });
          resolve('ending, as another process may lead now');
        }
      });
    });
  }

  async #lead(leadership: Leadership, signal: AbortSignal): Promise<void> {
    const { cluster, identity, clock, random, ids, supervisor, metrics, log } = this.#options;
    const onError = (error: unknown) => log.warn('drives', { error });
    const common = { clock, random, supervisor, onError };
    const writesTo = leadership.guard(cluster);
    const nodes = new Informer({ ...common, ...namesOfNodes, cluster, purpose: 'of drives' });
    const nodesWork = nodes.start(supervisor);
    const reporting = { ...common, cluster: writesTo, metrics, ids, instance: identity };
    try {
      await serveController(
        { ...common, cluster, writesTo, nodes },
        async ({ methods, cache }) => {
          const hasNode = nodeExistence(nodes);
          const stopMetering = meterDrives(metrics, { drives: () => cache.drives, hasNode });
          const stopComparison = startLedgerComparison({ ...reporting, cache });
          this.#controller = methods;
          log.info(`${cache.index.size} drives are known; calls are answered`);
          await untilAborted(signal);
          this.#controller = undefined;
          stopMetering();
          await stopComparison();
        },
        signal,
      );
    } finally {
      await nodesWork.stop();
    }
  }
}

/** The driver reads only whether a Node exists. */
const namesOfNodes = {
  resource: nodesResource,
  projection: ({ metadata: { name, uid, resourceVersion } = {} }: Node): Node => ({
    metadata: { name, uid, resourceVersion } as NonNullable<Node['metadata']>,
  }),
};

function changeText(change: LeadershipChange): string {
  switch (change.kind) {
    case 'leads':
      return 'this process leads';
    case 'follows':
      return `${change.leader} leads; this process stands by`;
    case 'lost':
      return 'the lead is lost: the Lease was not renewed within ten seconds, or another process has it';
  }
}
