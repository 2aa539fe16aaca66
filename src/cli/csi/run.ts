import { hostname } from 'node:os';
import { isAbsolute } from 'node:path';
import { CsiAddressError, socketPathOf } from '../../csi/csi-address.ts';
import { CsiSocketError } from '../../csi/server-socket.ts';
import { callGraceMs, type DrivesNodeOptions, DrivesProcess } from '../../drives/drives-process.ts';
import { LinuxHost } from '../../drives/host/linux-host.ts';
import { unenforcedQuota } from '../../drives/host/project-quota.ts';
import { quotaSupport, XfsProjectQuota } from '../../drives/host/xfs-quota.ts';
import { packageVersion } from '../../io/files/package-version.ts';
import { isLabelValue } from '../../kube/selectors/label-syntax.ts';
import { realClock } from '../../runtime/clock.ts';
import { systemIds } from '../../runtime/ids.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { systemRandom } from '../../runtime/random.ts';
import { Supervisor } from '../../runtime/supervisor.ts';
import { CliError, usage } from '../errors/cli-error.ts';
import { type LogFlags, logOf } from '../flags/log-flags.ts';
import { topologyKeysIn } from '../flags/topology-keys.ts';
import { OpsServer } from '../serving/ops-server.ts';
import { stopRequested } from '../serving/stop-signals.ts';
import { untilReached } from '../serving/until-reached.ts';
import { connect } from '../source/connect.ts';
import { checkKubeletRegistration, type KubeletRegistrationFlags } from './kubelet-registration-flags.ts';

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

/** The limit for stopping; the rest of the promised five seconds is for Node to exit. */
const stopMaxMs = 4_500;
/** The timeout of requests for the Lease, well below its duration. */
const leaseRequestMsMax = 4_500;

/** `stowage csi`: serves the CSI driver for local drives until the process is stopped or loses the lead. */
export async function csi(flags: CsiCommandFlags): Promise<void> {
  const log = logOf(flags);
  const { hasController, node } = servicesOf(flags);
  checkEndpoint(flags.endpoint);
  checkKubeletRegistration(flags, node !== undefined);
  await node?.checkQuota();
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
  const driver = new DrivesProcess({
    endpoint: flags.endpoint,
    endpointSource: '--endpoint',
    hasController,
    node,
    cluster,
    untilReached: async (signal) => (await untilReached(cluster, log, signal)) !== undefined,
    connectForLease: () => connect(flags, { rateLimit: false, requestTimeoutMs: leaseRequestMsMax, log }),
    identity: `${hostname()}_${systemIds.uid()}`,
    version: packageVersion(),
    clock: realClock,
    random: systemRandom,
    ids: systemIds,
    supervisor,
    metrics,
    log,
  });
  if (flags.httpAddress !== undefined) {
    // Started before the cluster is reached, so that a probe always gets a response.
    const server = await OpsServer.start({
      address: flags.httpAddress,
      readyChecks: { driver: () => (driver.isServing ? undefined : 'its socket does not answer yet') },
      metrics: () => metrics.render(),
    });
    log.info(`/healthz, /readyz and /metrics are on ${server.url}`);
  }
  const { why, exitCode } = await Promise.race([
    stopped,
    ended(driver, stop.signal).then((end) => end ?? stopped),
  ]);
  log.info(why);
  realClock.after(stopMaxMs, () => process.exit(exitCode));
  await Promise.all([driver.stop(), supervisor.close()]);
  process.exit(exitCode);
}

interface Ending {
  readonly why: string;
  readonly exitCode: number;
}

/** Undefined if `signal` ended it. */
async function ended(driver: DrivesProcess, signal: AbortSignal): Promise<Ending | undefined> {
  try {
    const why = await driver.run(signal);
    return why === undefined ? undefined : { why, exitCode: 1 };
  } catch (error) {
    if (error instanceof CsiSocketError) throw new CliError(error.message, 1, { cause: error });
    throw error;
  }
}

function checkEndpoint(endpoint: string): void {
  try {
    socketPathOf(endpoint, '--endpoint');
  } catch (error) {
    if (error instanceof CsiAddressError) throw usage(error.message);
    throw error;
  }
}

interface Services {
  readonly hasController: boolean;
  readonly node: DrivesNodeOptions | undefined;
}

function servicesOf(flags: CsiCommandFlags): Services {
  const names = flags.services.split(',').map((name) => name.trim());
  for (const name of names)
    if (name !== 'controller' && name !== 'node')
      throw usage(`--services: "${name}" must be controller or node`);
  const hasController = names.includes('controller');
  const topologyKeys = topologyKeysIn(flags.topologyKeys, '--topology-keys');
  return { hasController, node: names.includes('node') ? nodeServiceOf(flags, topologyKeys) : undefined };
}

function nodeServiceOf(flags: CsiCommandFlags, topologyKeys: readonly string[]): DrivesNodeOptions {
  const { nodeName, drivesRoot, kubeletRegistration: directory, kubeletEndpoint, endpoint } = flags;
  if (nodeName === undefined || nodeName === '')
    throw usage('--node-name: the node service needs the name of its node; or use --services controller');
  // The name becomes the value of a topology label.
  if (!/^[a-z0-9.-]+$/.test(nodeName) || !isLabelValue(nodeName))
    throw usage(`--node-name: "${nodeName}" must be a Node's name of at most 63 characters`);
  if (!isAbsolute(drivesRoot)) throw usage(`--drives-root: "${drivesRoot}" must be an absolute path`);
  return {
    nodeName,
    host: new LinuxHost(flags.unenforcedQuota === true ? unenforcedQuota : new XfsProjectQuota()),
    drivesRoot,
    topologyKeys,
    checkQuota: () => checkQuota(flags),
    registration: directory === undefined ? undefined : { directory, endpoint: kubeletEndpoint ?? endpoint },
  };
}

async function checkQuota({ unenforcedQuota: isUnenforced = false }: CsiCommandFlags): Promise<void> {
  if (isUnenforced || (await quotaSupport()) !== 'no') return;
  throw new CliError(
    'this kernel has no XFS project quota, so that volumes could exceed their size; use another kernel, or start with --unenforced-quota',
    1,
  );
}
