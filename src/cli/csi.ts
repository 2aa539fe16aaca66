import { hostname } from 'node:os';
import type { KubernetesCluster } from '../cluster/kubernetes/client.ts';
import { CsiAddressError, socketPathOf } from '../csi/csi-address.ts';
import { CsiServer, type CsiServices } from '../csi/csi-server.ts';
import { CsiSocketError } from '../csi/server-socket.ts';
import { drivesControllerService } from '../drives/controller/controller-service.ts';
import { DriveCache } from '../drives/controller/drive-cache.ts';
import { drivesServices } from '../drives/drives-services.ts';
import { packageVersion } from '../io/files/package-version.ts';
import { drivesDriver } from '../kube/drive.ts';
import { Leadership, type LeadershipChange } from '../reconcile/leases/leadership.ts';
import { untilAborted } from '../runtime/abort.ts';
import { realClock } from '../runtime/clock.ts';
import { systemIds } from '../runtime/ids.ts';
import type { Log } from '../runtime/log.ts';
import { systemRandom } from '../runtime/random.ts';
import { Supervisor } from '../runtime/supervisor.ts';
import { CliError, usage } from './cli-error.ts';
import { connect } from './connect.ts';
import { type LogFlags, logOf } from './log-flags.ts';
import { stopRequested } from './stop-signals.ts';
import { untilReached } from './until-reached.ts';

export interface CsiCommandFlags extends LogFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly endpoint: string;
  readonly nodeName?: string;
  readonly services: string;
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
  checkServices(flags);
  checkEndpoint(flags.endpoint);
  const stop = new AbortController();
  const stopped = stopRequested().then((signal): Ending => {
    stop.abort();
    return { why: `${signal}: stopping`, exitCode: 0 };
  });
  const cluster = await connect(flags, { rateLimit: false, log });
  const leaseCluster = await connect(flags, { rateLimit: false, requestTimeoutMs: leaseRequestMsMax, log });
  const supervisor = new Supervisor({
    clock: realClock,
    random: systemRandom,
    onCrash: ({ name, error }) => log.error(name, { error }),
    stopDeadlineMs: stopMaxMs - callGraceMs,
  });
  const driver = new DrivesDriver({ cluster, leaseCluster, supervisor, log });
  const server = await listen(flags.endpoint, driver.services, log);
  log.info(`${drivesDriver} listens at ${server.path}`);
  const reached = await untilReached(cluster, log, stop.signal);
  const lost = reached === undefined ? stopped : driver.run(stop.signal).then((ending) => ending ?? stopped);
  const { why, exitCode } = await Promise.race([stopped, lost]);
  log.info(why);
  realClock.after(stopMaxMs, () => process.exit(exitCode));
  await Promise.all([server.stop(callGraceMs), supervisor.close()]);
  process.exit(exitCode);
}

interface Ending {
  readonly why: string;
  readonly exitCode: number;
}

interface DriverParts {
  readonly cluster: KubernetesCluster;
  /** A connection of its own, so that renewals never wait behind other requests. */
  readonly leaseCluster: KubernetesCluster;
  readonly supervisor: Supervisor;
  readonly log: Log;
}

/**
 * The driver of this process. Before it leads it answers Unavailable, and Probe says that it is not ready. It reads the drives when it has become
 * leader, so that it sees everything that the last leader wrote.
 */
class DrivesDriver {
  readonly services: CsiServices;
  readonly #parts: DriverParts;
  #controller: CsiServices['controller'];

  constructor(parts: DriverParts) {
    this.#parts = parts;
    this.services = drivesServices({ version: packageVersion(), controller: () => this.#controller });
  }

  /** Resolves when the lead is lost; with undefined when `signal` aborted. */
  async run(signal: AbortSignal): Promise<Ending | undefined> {
    const { leaseCluster, supervisor, log } = this.#parts;
    const leadership = new Leadership({
      controller: 'drives',
      cluster: leaseCluster,
      identity: `${hostname()}_${systemIds.uid()}`,
      announcement: { version: packageVersion(), gates: {} },
      clock: realClock,
      random: systemRandom,
      onChange: (change) => log.info(changeText(change)),
      onError: (error) => log.warn('lease', { error }),
    });
    return await new Promise((resolve) => {
      supervisor.start('drives', async () => {
        try {
          await leadership.run((term) => this.#lead(leadership, term), signal);
          resolve(undefined);
        } catch (error) {
          log.warn('drives', { error });
          resolve({ why: 'ending, as another process may lead now', exitCode: 1 });
        }
      });
    });
  }

  async #lead(leadership: Leadership, signal: AbortSignal): Promise<void> {
    const { cluster, supervisor, log } = this.#parts;
    const common = { clock: realClock, random: systemRandom };
    const onError = (error: unknown) => log.warn('drives', { error });
    const cache = new DriveCache({ ...common, cluster, supervisor, onError });
    try {
      if (!(await cache.synced(signal))) return;
      this.#controller = drivesControllerService({ ...common, cluster: leadership.guard(cluster), cache });
      log.info(`${cache.index.size} drives are known; calls are answered`);
      await untilAborted(signal);
    } finally {
      this.#controller = undefined;
      await cache.stop();
    }
  }
}

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

async function listen(endpoint: string, services: CsiServices, log: Log): Promise<CsiServer> {
  try {
    return await CsiServer.start({
      address: endpoint,
      addressSource: '--endpoint',
      services,
      clock: realClock,
      log,
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

function checkServices({ services }: CsiCommandFlags): void {
  const names = services.split(',').map((name) => name.trim());
  for (const name of names)
    if (name !== 'controller' && name !== 'node')
      throw usage(`--services: "${name}" must be controller or node`);
  if (names.includes('node'))
    throw usage('--services: the node service does not exist yet; use --services controller');
}
