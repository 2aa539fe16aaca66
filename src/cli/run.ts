import { hostname } from 'node:os';
import { ApiError } from '../cluster/api-error.ts';
import { type ConnectOptions, KubernetesCluster } from '../cluster/kubernetes/client.ts';
import { ConnectionSettingsError } from '../cluster/kubernetes/connection-settings.ts';
import type { Resource } from '../cluster/resource.ts';
import { selectControllers } from '../controllers/controller-names.ts';
import type { LeadershipNews } from '../controllers/leases/leadership.ts';
import { type RunOptions, runControllers } from '../controllers/run-controllers.ts';
import { exponentialBackoff } from '../runtime/backoff.ts';
import { realClock } from '../runtime/clock.ts';
import { systemIds } from '../runtime/ids.ts';
import { Metrics } from '../runtime/metrics.ts';
import { systemRandom } from '../runtime/random.ts';
import { Supervisor } from '../runtime/supervisor.ts';
import { CliError, usage } from './cli-error.ts';
import { featureGatesOf } from './feature-gates.ts';
import { packageVersion } from './package-version.ts';
import { complain, say } from './say.ts';
import { stopRequested } from './stop-signals.ts';

export interface RunFlags {
  readonly kubeconfig?: string;
  readonly controllers: string;
  /** As given: true where the flag stands alone. */
  readonly leaderElect: boolean | string;
  readonly featureGates: string;
  /** As often as given. */
  readonly schedulerName?: readonly string[];
}

/** What ending may take in all; the rest of the five seconds is for Node to exit. */
const stopMaxMs = 4_500;
/** Controllers end and give their Leases back within this. */
const stopDeadlineMs = 4_000;
/** A Lease that was asked for must have been answered well before it runs out. */
const leaseRequestMsMax = 4_500;
const patience = exponentialBackoff({ baseMs: 1_000, maxMs: 15_000, factor: 2, jitter: 'equal' });

/** `stowage run`: controllers on a real cluster, until somebody stops it or it does not lead any more. */
export async function run(flags: RunFlags): Promise<void> {
  const settings = settingsOf(flags);
  const supervisor = new Supervisor({
    clock: realClock,
    random: systemRandom,
    onCrash: ({ name, error }) => complain(name, error),
    stopDeadlineMs,
  });
  const cluster = await connect(flags, { rateLimit: false });
  const leaseCluster = await connect(flags, { rateLimit: false, requestTimeoutMs: leaseRequestMsMax });
  const stop = new AbortController();
  const stopped = stopRequested().then((signal): Ending => {
    stop.abort();
    return { why: `${signal}: stopping`, exitCode: 0 };
  });
  const resources = await untilReached(cluster, stop.signal);
  if (resources === undefined) return await end(await stopped, supervisor);
  say(describe(settings, cluster));
  const lost = new Promise<Ending>((resolve) => {
    const onLeadership = (news: LeadershipNews) => {
      say(newsText(news));
      if (news.kind === 'lost') resolve({ why: 'ending, as another may lead now', exitCode: 1 });
    };
    runControllers({ ...common, ...settings, cluster, leaseCluster, resources, supervisor, onLeadership });
  });
  await end(await Promise.race([stopped, lost]), supervisor);
}

interface Ending {
  readonly why: string;
  readonly exitCode: number;
}

async function end({ why, exitCode }: Ending, supervisor: Supervisor): Promise<never> {
  say(why);
  // Whatever hangs must not keep the process: a Lease that is not given back runs out by itself.
  realClock.after(stopMaxMs, () => process.exit(exitCode));
  await supervisor.close();
  process.exit(exitCode);
}

const common = {
  clock: realClock,
  random: systemRandom,
  ids: systemIds,
  metrics: new Metrics(),
  report: ({ controller, key, error }) => complain(`${controller}: ${key}`, error),
  onTrouble: (error) => complain('controllers', error),
} satisfies Partial<RunOptions>;

type Settings = Pick<RunOptions, 'names' | 'instance' | 'volumeScheduling' | 'version'> & {
  readonly leaderElection: boolean;
  readonly schedulerNames: readonly string[];
};

function settingsOf(flags: RunFlags): Settings {
  const selected = selectControllers(flags.controllers);
  if (!selected.ok) throw usage(selected.problem);
  if (selected.names.length === 0)
    throw usage('--controllers: nothing would run; name at least one, such as scheduler');
  const { schedulerName: schedulerNames = ['stowage'] } = flags;
  if (schedulerNames.includes('')) throw usage('--scheduler-name: give a name, such as stowage');
  return {
    names: selected.names,
    // Two replicas may run on one machine.
    instance: `${hostname()}_${systemIds.uid()}`,
    volumeScheduling: featureGatesOf(flags.featureGates).VolumeScheduling,
    version: packageVersion(),
    leaderElection: isElected(flags),
    schedulerNames,
  };
}

function isElected({ leaderElect }: RunFlags): boolean {
  if (typeof leaderElect === 'boolean') return leaderElect;
  if (leaderElect === 'true' || leaderElect === 'false') return leaderElect === 'true';
  throw usage(`--leader-elect: "${leaderElect}" is neither true nor false`);
}

async function connect(
  { kubeconfig }: RunFlags,
  more: Pick<ConnectOptions, 'rateLimit' | 'requestTimeoutMs'>,
): Promise<KubernetesCluster> {
  const options = { clock: realClock, random: systemRandom, env: process.env, ...more };
  try {
    return await KubernetesCluster.connect(kubeconfig === undefined ? options : { ...options, kubeconfig });
  } catch (error) {
    if (!(error instanceof ConnectionSettingsError)) throw error;
    throw new CliError(`${error.message}; choose a kubeconfig with --kubeconfig`, 1, { cause: error });
  }
}

/** What the server has, however long it takes to answer; undefined where `signal` aborted before. */
async function untilReached(
  cluster: KubernetesCluster,
  signal: AbortSignal,
): Promise<readonly Resource[] | undefined> {
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    try {
      const { resources, failures } = await cluster.discover(signal);
      for (const { groupVersion, error } of failures) complain(`${groupVersion} is left out`, error);
      return resources;
    } catch (error) {
      if (signal.aborted) break;
      if (!isPassing(error)) throw refused(error, cluster);
      complain(`cannot reach ${cluster.server}, trying again`, error);
    }
    await realClock.sleep(patience.delayMs(attempt, systemRandom), signal);
  }
  return undefined;
}

function isPassing(error: unknown): boolean {
  return error instanceof ApiError && (error.code >= 500 || error.code === 429);
}

function refused(error: unknown, { server, source }: KubernetesCluster): unknown {
  if (!(error instanceof ApiError)) return error;
  const message = `${server} refuses us: ${error.message}; check the user in ${source}`;
  return new CliError(message, 1, { cause: error });
}

function describe(settings: Settings, { server, source }: KubernetesCluster): string {
  const { names, leaderElection, schedulerNames } = settings;
  const pods = names.includes('scheduler') ? `, for pods of ${schedulerNames.join(', ')}` : '';
  const how = leaderElection ? 'one leader for each' : 'without leader election';
  return `running ${names.join(', ')} on ${server} (${source})${pods}; ${how}`;
}

function newsText(news: LeadershipNews): string {
  switch (news.kind) {
    case 'leads':
      return `${news.controller}: this process leads`;
    case 'follows':
      return `${news.controller}: ${news.leader} leads; this process stands by`;
    case 'lost':
      return `${news.controller}: the lead is lost: its Lease was not renewed within ten seconds, or another has it`;
  }
}
