import { hostname } from 'node:os';
import type { KubernetesCluster } from '../../cluster/kubernetes/client.ts';
import {
  type RunControllersOptions,
  type RunningControllers,
  runControllers,
} from '../../controllers/run-controllers.ts';
import { packageVersion } from '../../io/files/package-version.ts';
import { isReason } from '../../kube/api-error.ts';
import type { LeadershipChange } from '../../reconcile/leases/leadership.ts';
import { realClock } from '../../runtime/clock.ts';
import { systemIds } from '../../runtime/ids.ts';
import type { Log, LogLevel } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { systemRandom } from '../../runtime/random.ts';
import { Supervisor } from '../../runtime/supervisor.ts';
import { type RunSettings, runSettings, type SettingFlags } from '../config/run-settings.ts';
import { type LogFlags, logOf } from '../flags/log-flags.ts';
import { OpsServer } from '../serving/ops-server.ts';
import { stopRequested } from '../serving/stop-signals.ts';
import { untilReached } from '../serving/until-reached.ts';
import { connect } from '../source/connect.ts';
import { type RunConsoleFlags, runConsole, runConsolePlan } from './run-console.ts';

export interface RunFlags extends SettingFlags, LogFlags, RunConsoleFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
}

/** The limit for stopping; the rest of the promised five seconds is for Node to exit. */
const stopMaxMs = 4_500;
/** Controllers end and release their Leases within this time. */
const stopDeadlineMs = 4_000;
/** The timeout of requests for a Lease, well below its duration. */
const leaseRequestMsMax = 4_500;

/** `stowage run`: runs controllers on a real cluster until the process is stopped or loses the lead. */
export async function run(flags: RunFlags): Promise<void> {
  const log = logOf(flags);
  const settings = await runSettings(flags);
  const consolePlan = await runConsolePlan(flags);
  const supervisor = new Supervisor({
    clock: realClock,
    random: systemRandom,
    onCrash: ({ name, error }) => log.error(name, { error }),
    stopDeadlineMs,
  });
  const cluster = await connect(flags, { rateLimit: false, log });
  const leaseCluster = await connect(flags, {
    rateLimit: false,
    requestTimeoutMs: leaseRequestMsMax,
    log,
  });
  const metrics = new Metrics();
  let running: RunningControllers | undefined;
  await serveOps(settings, { log, metrics, isReady: () => running?.waitingFor().length === 0 });
  const stop = new AbortController();
  const stopped = stopRequested().then((signal): Ending => {
    stop.abort();
    return { why: `${signal}: stopping`, exitCode: 0 };
  });
  const resources = await untilReached(cluster, log, stop.signal);
  if (resources === undefined) return await end(await stopped, supervisor, log);
  log.info(describe(settings, cluster));
  if (consolePlan !== undefined) {
    const { url } = await runConsole(cluster, consolePlan, { ...flags, log });
    log.info(`the console is on ${url}`);
  }
  const lost = new Promise<Ending>((resolve) => {
    const onLeadership = (news: LeadershipChange) => {
      log.info(newsText(news));
      if (news.kind === 'lost') resolve({ why: 'ending, as another may lead now', exitCode: 1 });
    };
    const more = { cluster, leaseCluster, resources, supervisor, metrics, onLeadership };
    running = runControllers({ ...own(log), ...settings, ...more });
  });
  await end(await Promise.race([stopped, lost]), supervisor, log);
}

interface Ending {
  readonly why: string;
  readonly exitCode: number;
}

async function end({ why, exitCode }: Ending, supervisor: Supervisor, log: Log): Promise<never> {
  log.info(why);
  // A component that hangs must not keep the process alive: a Lease that is not released expires.
  realClock.after(stopMaxMs, () => process.exit(exitCode));
  await supervisor.close();
  process.exit(exitCode);
}

function own(log: Log) {
  return {
    clock: realClock,
    random: systemRandom,
    ids: systemIds,
    log,
    version: packageVersion(),
    // Two replicas may run on one machine.
    instance: `${hostname()}_${systemIds.uid()}`,
    report: ({ controller, key, error }) => log[levelOf(error)](`${controller}: ${key}`, { error }),
    onError: (error) => log[levelOf(error)]('controllers', { error }),
  } satisfies Partial<RunControllersOptions>;
}

/** An API server that was restarted may have forgotten the version that a watch resumes from; informers then list again, and nothing is lost. */
function levelOf(error: unknown): LogLevel {
  return isReason(error, 'Expired') ? 'debug' : 'warn';
}

interface Ops {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly isReady: () => boolean;
}

/** Serves from before the cluster is reached until the very end, so that a probe always gets an answer. */
async function serveOps({ httpAddress }: RunSettings, { log, metrics, isReady }: Ops): Promise<void> {
  if (httpAddress === undefined) return;
  const server = await OpsServer.start({
    address: httpAddress,
    readyChecks: { controllers: () => (isReady() ? undefined : 'they have not read everything yet') },
    metrics: () => metrics.render(),
  });
  log.info(`/healthz, /readyz and /metrics are on ${server.url}`);
}

function describe(settings: RunSettings, { server, source }: KubernetesCluster): string {
  const { names, leaderElection, schedulerNames, profile } = settings;
  const pods = names.includes('scheduler')
    ? `, for pods of ${schedulerNames.join(', ')} (profile ${profile.name})`
    : '';
  if (names.length === 0) return `running no controller on ${server} (${source})`;
  const how = leaderElection ? 'one leader for each' : 'without leader election';
  return `running ${names.join(', ')} on ${server} (${source})${pods}; ${how}`;
}

function newsText(news: LeadershipChange): string {
  switch (news.kind) {
    case 'leads':
      return `${news.controller}: this process leads`;
    case 'follows':
      return `${news.controller}: ${news.leader} leads; this process stands by`;
    case 'lost':
      return `${news.controller}: the lead is lost: its Lease was not renewed within ten seconds, or another has it`;
  }
}
