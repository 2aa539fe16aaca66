import { hostname } from 'node:os';
import { isAbsolute } from 'node:path';
import type { KubernetesCluster } from '../cluster/kubernetes/client.ts';
import { CsiAddressError, socketPathOf } from '../csi/csi-address.ts';
import { CsiServer, type CsiServices } from '../csi/csi-server.ts';
import { ServedCallMetrics } from '../csi/served-call-metrics.ts';
import { CsiSocketError } from '../csi/server-socket.ts';
import { drivesControllerService } from '../drives/controller/controller-service.ts';
import { DriveCache, nodeExistence } from '../drives/controller/drive-cache.ts';
import { meterDrives } from '../drives/controller/drive-metrics.ts';
import { startLedgerComparison } from '../drives/controller/ledger-comparison.ts';
import { drivesServices } from '../drives/drives-services.ts';
import { LinuxHost } from '../drives/host/linux-host.ts';
import { unenforcedQuota } from '../drives/host/project-quota.ts';
import { quotaSupport, XfsProjectQuota } from '../drives/host/xfs-quota.ts';
import { NodeDriver } from '../drives/node/node-driver.ts';
import { packageVersion } from '../io/files/package-version.ts';
import type { Node } from '../kube/api/core.ts';
import { nodes as nodesResource } from '../kube/resources.ts';
import { isLabelValue } from '../kube/selectors/label-syntax.ts';
import { drivesDriver } from '../kube/stowage/drive.ts';
import { Informer } from '../reconcile/informer/informer.ts';
import { Leadership, type LeadershipChange } from '../reconcile/leases/leadership.ts';
import { meteredLeadership } from '../reconcile/leases/leadership-metrics.ts';
import { untilAborted } from '../runtime/abort.ts';
import { realClock } from '../runtime/clock.ts';
import { systemIds } from '../runtime/ids.ts';
import type { Log } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { systemRandom } from '../runtime/random.ts';
import { Supervisor } from '../runtime/supervisor.ts';
import { CliError, usage } from './cli-error.ts';
import { connect } from './connect.ts';
import { topologyKeysIn } from './drives/topology-keys.ts';
import {
  checkKubeletRegistration,
  KubeletRegistration,
  type KubeletRegistrationFlags,
} from './kubelet-registration.ts';
import { type LogFlags, logOf } from './log-flags.ts';
import { OpsServer } from './ops-server.ts';
import { stopRequested } from './stop-signals.ts';
import { untilReached } from './until-reached.ts';

export interface CsiCommandFlags extends LogFlags, KubeletRegistrationFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly nodeName?: string;
  readonly services: string;
  readonly drivesRoot: string;
  readonly unenforcedQuota?: boolean;
  readonly topologyKeys?: string;
  readonly httpAddress?: string;
}

/** Calls in progress may end within this time when the process stops. */
const callGraceMs = 1_000;
/** The limit for stopping; the rest of the promised five seconds is for Node to exit. */
const stopMaxMs = 4_500;
/** The timeout of requests for the Lease, well below its duration. */
const leaseRequestMsMax = 4_500;

/** `stowage csi`: serves the CSI driver for local drives until the process is stopped or loses the lead. */
export async function csi(flags: CsiCommandFlags): Promise<void> {
  const log = logOf(flags);
  const services = servicesOf(flags);
  const topologyKeys = topologyKeysIn(flags.topologyKeys, '--topology-keys');
  checkEndpoint(flags.endpoint);
  checkKubeletRegistration(flags, services.node !== undefined);
  if (services.node) await checkQuota(flags);
  const stop = new AbortController();
  const stopped = stopRequested().then((signal): Ending => {
    stop.abort();
    return { why: `${signal}: stopping`, exitCode: 0 };
  });
  const cluster = await connect(flags, { rateLimit: false, log });
  const supervisor = new Supervisor({
    clock: realClock,
    random: systemRandom,
    onCrash: ({ name, error }) => log.error(name, { error }),
    stopDeadlineMs: stopMaxMs - callGraceMs,
  });
  const metrics = new Metrics();
  const driver = new DrivesDriver({ flags, services, topologyKeys, cluster, supervisor, metrics, log });
  await serveOps(flags, driver, { metrics, log });
  const failed = driver.run(stop.signal).then((ending) => ending ?? stopped);
  const { why, exitCode } = await Promise.race([stopped, failed]);
  log.info(why);
  realClock.after(stopMaxMs, () => process.exit(exitCode));
  await Promise.all([driver.stop(), supervisor.close()]);
  process.exit(exitCode);
}

interface Ending {
  readonly why: string;
  readonly exitCode: number;
}

interface ServiceNames {
  readonly controller: boolean;
  /** The name of the node. */
  readonly node: string | undefined;
}

interface DriverParts {
  readonly flags: CsiCommandFlags;
  readonly services: ServiceNames;
  readonly topologyKeys: readonly string[];
  readonly cluster: KubernetesCluster;
  readonly supervisor: Supervisor;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** Serves from before the cluster is reached, so that a probe always gets an answer. */
async function serveOps(
  { httpAddress }: CsiCommandFlags,
  driver: DrivesDriver,
  { metrics, log }: Pick<DriverParts, 'metrics' | 'log'>,
): Promise<void> {
  if (httpAddress === undefined) return;
  const server = await OpsServer.start({
    address: httpAddress,
    readyChecks: { driver: () => (driver.isServing ? undefined : 'its socket does not answer yet') },
    metrics: () => metrics.render(),
  });
  log.info(`/healthz, /readyz and /metrics are on ${server.url}`);
}

/**
 * The driver of this process. The socket of a node service appears when the node's drives are mounted, because the kubelet calls it at once.
 * The controller service answers Unavailable before this process leads. It reads the drives when it has become leader, so that it sees
 * everything that the last leader wrote.
 */
class DrivesDriver {
  readonly #parts: DriverParts;
  #controller: CsiServices['controller'];
  #server: CsiServer | undefined;
  #registration: KubeletRegistration | undefined;

  constructor(parts: DriverParts) {
    this.#parts = parts;
  }

  /** Whether its socket is there. A controller that does not lead is ready too: it can lead at any time. */
  get isServing(): boolean {
    return this.#server !== undefined;
  }

  /** Resolves when the lead is lost; with undefined when `signal` aborted. Rejects if it cannot serve. */
  async run(signal: AbortSignal): Promise<Ending | undefined> {
    const { services, cluster, log } = this.#parts;
    // A controller that waits for its API server says so by its own answers.
    if (services.node === undefined) await this.#serve(undefined);
    if ((await untilReached(cluster, log, signal)) === undefined) return undefined;
    if (services.node !== undefined && !(await this.#startNode(services.node, signal))) return undefined;
    if (services.controller) return await this.#elect(signal);
    await untilAborted(signal);
    return undefined;
  }

  /** The kubelet first, so that it sends no new calls. */
  async stop(): Promise<void> {
    await this.#registration?.stop();
    await this.#server?.stop(callGraceMs);
  }

  /** Resolves with false if `signal` aborted before the drives were mounted. */
  async #startNode(nodeName: string, signal: AbortSignal): Promise<boolean> {
    const { flags, topologyKeys, cluster, supervisor, metrics, log } = this.#parts;
    const host = new LinuxHost(flags.unenforcedQuota === true ? unenforcedQuota : new XfsProjectQuota());
    const { drivesRoot } = flags;
    const common = { clock: realClock, random: systemRandom, cluster, supervisor, metrics, log };
    const node = new NodeDriver({ ...common, host, drivesRoot, nodeName, topologyKeys });
    if (!(await node.start(signal))) return false;
    // The kernel may have loaded XFS only now.
    await checkQuota(flags);
    log.info(`${node.drives.names.length} drives of node ${nodeName} are known`);
    await this.#serve(node.methods);
    this.#registration = await KubeletRegistration.start(flags, log);
    node.topology.onChange((after, before) => this.#registration?.topologyChanged(after, before));
    return true;
  }

  async #serve(node: CsiServices['node']): Promise<void> {
    const { flags, services, metrics, log } = this.#parts;
    const controller = services.controller ? { controller: () => this.#controller } : {};
    const served = drivesServices({ version: packageVersion(), ...controller, node });
    this.#server = await listen(flags.endpoint, served, { calls: new ServedCallMetrics(metrics), log });
    log.info(`${drivesDriver} listens at ${this.#server.path}`);
  }

  async #elect(signal: AbortSignal): Promise<Ending | undefined> {
    const { flags, supervisor, metrics, log } = this.#parts;
    // A connection of its own, so that renewals never wait behind other requests.
    const cluster = await connect(flags, { rateLimit: false, requestTimeoutMs: leaseRequestMsMax, log });
    const identity = `${hostname()}_${systemIds.uid()}`;
    const leadership = new Leadership({
      controller: 'drives',
      cluster,
      identity,
      announcement: { version: packageVersion(), gates: {} },
      clock: realClock,
      random: systemRandom,
      onChange: meteredLeadership(metrics, 'drives', (change) => log.info(changeText(change))),
      onError: (error) => log.warn('lease', { error }),
    });
    return await new Promise((resolve) => {
      supervisor.start('drives', async () => {
        try {
          await leadership.run((term) => this.#lead(leadership, identity, term), signal);
          resolve(undefined);
        } catch (error) {
          log.warn('drives', { error });
          resolve({ why: 'ending, as another process may lead now', exitCode: 1 });
        }
      });
    });
  }

  async #lead(leadership: Leadership, instance: string, signal: AbortSignal): Promise<void> {
    const { supervisor, metrics, log } = this.#parts;
    const onError = (error: unknown) => log.warn('drives', { error });
    const common = { clock: realClock, random: systemRandom, supervisor, onError };
    const cluster = leadership.guard(this.#parts.cluster);
    const reading = { ...common, cluster: this.#parts.cluster };
    const nodes = new Informer({ ...reading, ...namesOfNodes, purpose: 'of drives' });
    const nodesWork = nodes.start(supervisor);
    const cache = new DriveCache({ ...reading, nodes });
    let stopComparison = async () => {};
    const hasNode = nodeExistence(nodes);
    const stopMetering = meterDrives(metrics, { drives: () => cache.drives, hasNode });
    try {
      if (!(await cache.synced(signal))) return;
      this.#controller = drivesControllerService({ ...common, cluster, cache });
      log.info(`${cache.index.size} drives are known; calls are answered`);
      stopComparison = startLedgerComparison({
        ...common,
        cluster,
        cache,
        metrics,
        ids: systemIds,
        instance,
      });
      await untilAborted(signal);
    } finally {
      this.#controller = undefined;
      stopMetering();
      await Promise.all([stopComparison(), cache.stop(), nodesWork.stop()]);
    }
  }
}

/** Whether a Node exists is all that the driver needs. */
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

async function listen(
  endpoint: string,
  services: CsiServices,
  { calls, log }: { readonly calls: ServedCallMetrics; readonly log: Log },
): Promise<CsiServer> {
  try {
    return await CsiServer.start({
      address: endpoint,
      addressSource: '--endpoint',
      services,
      clock: realClock,
      log,
      onAnswer: (answer) => calls.record(answer),
    });
  } catch (error) {
    if (error instanceof CsiSocketError) throw new CliError(error.message, 1, { cause: error });
    throw error;
  }
}

// ── Flags ──

function checkEndpoint(endpoint: string): void {
  try {
    socketPathOf(endpoint, '--endpoint');
  } catch (error) {
    if (error instanceof CsiAddressError) throw usage(error.message);
    throw error;
  }
}

function servicesOf({ services, nodeName, drivesRoot }: CsiCommandFlags): ServiceNames {
  const names = services.split(',').map((name) => name.trim());
  for (const name of names)
    if (name !== 'controller' && name !== 'node')
      throw usage(`--services: "${name}" must be controller or node`);
  const controller = names.includes('controller');
  if (!names.includes('node')) return { controller, node: undefined };
  if (nodeName === undefined || nodeName === '')
    throw usage('--node-name: the node service needs the name of its node; or use --services controller');
  // The name becomes the value of a topology label.
  if (!/^[a-z0-9.-]+$/.test(nodeName) || !isLabelValue(nodeName))
    throw usage(`--node-name: "${nodeName}" must be a Node's name of at most 63 characters`);
  if (!isAbsolute(drivesRoot)) throw usage(`--drives-root: "${drivesRoot}" must be an absolute path`);
  return { controller, node: nodeName };
}

async function checkQuota({ unenforcedQuota: isUnenforced = false }: CsiCommandFlags): Promise<void> {
  if (isUnenforced || (await quotaSupport()) !== 'no') return;
  throw new CliError(
    'this kernel has no XFS project quota, so that volumes could exceed their size; use another kernel, or start with --unenforced-quota',
    1,
  );
}
