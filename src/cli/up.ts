import { hostname } from 'node:os';
import { basename, join, relative, resolve } from 'node:path';
import { EmbeddedServer, type EmbeddedServerOptions } from '../apiserver/embedded-server.ts';
import type { OperatorRules } from '../apiserver/registry/operator-rules.ts';
import { EmbeddedCluster } from '../cluster/embedded-cluster.ts';
import type { ControllerSettings } from '../controllers/all-controllers.ts';
import { selectControllers } from '../controllers/controller-names.ts';
import { type RunningControllers, type RunOptions, runControllers } from '../controllers/run-controllers.ts';
import { withZonalAffinity } from '../controllers/volumes/zonal-upgrade/zonal-admission.ts';
import { zonalUpgrade } from '../controllers/volumes/zonal-upgrade/zonal-upgrade.ts';
import { realClock } from '../runtime/clock.ts';
import { systemIds } from '../runtime/ids.ts';
import type { Log } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { systemRandom } from '../runtime/random.ts';
import { Supervisor } from '../runtime/supervisor.ts';
import { CliError, usage } from './cli-error.ts';
import { emptyDataDirectory, markDataDirectory } from './data-directory.ts';
import { Demo, type OwnNames, whatToTry } from './demo/demo.ts';
import { featureGatesOf } from './feature-gates.ts';
import { type LogFlags, logOf } from './log-flags.ts';
import { ownDefinitions } from './own-definitions.ts';
import { packageVersion } from './package-version.ts';
import { stopRequested } from './stop-signals.ts';
import { explained } from './up-errors.ts';

export interface UpFlags extends LogFlags {
  readonly data: string;
  readonly port: string;
  readonly host: string;
  readonly kubeconfig?: string;
  readonly controllers: string;
  readonly console: boolean;
  readonly featureGates: string;
  readonly demo?: boolean;
  readonly fresh?: boolean;
}

/** What ending may take in all; the rest of the five seconds is for Node to exit. */
const stopMaxMs = 4_500;
/** How often it is looked whether the controllers know enough to begin. */
const readyEveryMs = 5;

/** There is no other scheduler here, so nobody else would see to pods that name none. */
const schedulerNames = ['stowage', 'default-scheduler'];

/** `stowage up`: an API server on this machine and the controllers that go with it, until somebody stops it. */
export async function up(flags: UpFlags): Promise<void> {
  const plan = planOf(flags);
  const { log, demo, dataDirectory, names, kubeconfig } = plan;
  const stop = stopRequested();
  const ending = new AbortController();
  void stop.then(() => {
    ending.abort();
    // Whatever hangs must not keep the process: everything that was acknowledged is durable already.
    realClock.after(stopMaxMs, () => process.exit(0));
  });
  const machine = await started(flags, plan);
  try {
    await machine.ready(ending.signal);
    const listed = names.join(', ') || 'none';
    log.info(`listening on ${machine.server.url}, data in ${dataDirectory}, controllers: ${listed}`);
    await demo?.load(machine.server.registry, ending.signal);
  } catch (error) {
    // On a disk that is full, closing may never end.
    await Promise.race([machine.close(), realClock.sleep(stopMaxMs, ending.signal)]);
    throw explained(error, { ...flags, dataDirectory });
  }
  process.stdout.write(`export KUBECONFIG=${kubeconfig}\n`);
  if (demo !== undefined && flags.logFormat !== 'json') process.stderr.write(whatToTry(ownNames()));

  log.info(`${await stop}: stopping`);
  await machine.close();
  process.exit(0);
}

/** As it was called: by npm in a checkout, by its name where it is installed, by its path elsewhere. */
function ownNames(): OwnNames {
  if (process.env.npm_lifecycle_event === 'start')
    return { program: 'npx stowage', startOver: 'npm start -- --fresh' };
  const script = process.argv[1] ?? '';
  const program = basename(script) === 'stowage' ? 'stowage' : `node ${relative('', script)}`;
  return { program, startOver: '--fresh' };
}

/** What the flags ask for; nothing has been done yet. */
interface Plan {
  readonly log: Log;
  readonly names: readonly string[];
  readonly dataDirectory: string;
  readonly kubeconfig: string;
  readonly port: number;
  readonly demo: Demo | undefined;
  readonly settings: ControllerSettings;
}

function planOf(flags: UpFlags): Plan {
  const log = logOf(flags);
  const names = controllersOf(flags);
  const { VolumeScheduling: volumeScheduling } = featureGatesOf(flags.featureGates);
  // As a variable that is not set would have it; the current folder is not meant.
  if (flags.data === '') throw usage('--data: give a directory');
  const dataDirectory = resolve(flags.data);
  const localRoot = join(dataDirectory, 'volumes');
  const demo = flags.demo ? new Demo(log) : undefined;
  return {
    log,
    names,
    dataDirectory,
    kubeconfig: resolve(flags.kubeconfig ?? `${dataDirectory}/kubeconfig`),
    port: portOf(flags.port),
    demo,
    settings: {
      localRoot,
      volumeScheduling,
      schedulerNames,
      version: packageVersion(),
      ...(demo === undefined ? {} : { provisioners: demo.provisioners }),
    },
  };
}

function controllersOf({ controllers }: UpFlags): readonly string[] {
  const selected = selectControllers(controllers);
  if (!selected.ok) throw usage(`--controllers: ${selected.problem}`);
  return selected.names;
}

function portOf(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw usage(`--port: "${text}" is not a port; give a number from 0 to 65535, where 0 picks a free one`);
}

interface Started {
  readonly server: EmbeddedServer;
  /** Resolves when the controllers know what there is, or `signal` aborts. */
  ready(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

async function started(flags: UpFlags, plan: Plan): Promise<Started> {
  const metrics = new Metrics();
  let running: RunningControllers | undefined;
  const isReady = () => running !== undefined && running.waitingFor().length === 0;
  const server = await startServer(flags, plan, {
    readyChecks: { controllers: () => (isReady() ? undefined : 'they have not read everything yet') },
    moreMetrics: () => metrics.render(),
  });
  await writeKubeconfig(server, plan.kubeconfig);
  const supervisor = new Supervisor({
    clock: realClock,
    random: systemRandom,
    onCrash: ({ name, error }) => plan.log.error(name, { error }),
    stopDeadlineMs: 1_000,
  });
  running = runControllers({ ...optionsOf(server, plan), supervisor, metrics });
  return {
    server,
    async ready(signal) {
      while (!isReady() && !signal.aborted) await realClock.sleep(readyEveryMs, signal);
    },
    async close() {
      await supervisor.close();
      await server.close();
    },
  };
}

async function startServer(
  { host, port, fresh = false }: UpFlags,
  { names, dataDirectory, log, port: wanted }: Plan,
  more: Pick<EmbeddedServerOptions, 'readyChecks' | 'moreMetrics'>,
): Promise<EmbeddedServer> {
  try {
    if (fresh && (await emptyDataDirectory(dataDirectory))) log.info(`${dataDirectory} is empty again`);
    markDataDirectory(dataDirectory);
    return await EmbeddedServer.start({
      dataDirectory,
      host,
      port: wanted,
      clock: realClock,
      ids: systemIds,
      random: systemRandom,
      definitions: await ownDefinitions(),
      rules: rulesOf(names),
      onError: (error, where) => log.error(where, { error }),
      ...more,
    });
  } catch (error) {
    throw explained(error, { host, port, dataDirectory });
  }
}

/** What controllers would do to a new object at once is done before it is stored. */
function rulesOf(names: readonly string[]): OperatorRules {
  return names.includes(zonalUpgrade.name) ? { persistentVolumes: withZonalAffinity } : {};
}

function optionsOf(
  { registry, certificate }: EmbeddedServer,
  { names, log, demo, settings }: Plan,
): Omit<RunOptions, 'supervisor' | 'metrics'> {
  return {
    ...settings,
    clusterAuthority: certificate,
    names,
    more: demo?.controllers,
    cluster: new EmbeddedCluster({ registry, manager: 'stowage' }),
    resources: registry.kinds.all.filter(({ storedAs }) => storedAs === undefined),
    clock: realClock,
    random: systemRandom,
    ids: systemIds,
    instance: hostname(),
    log,
    report: ({ controller, key, error }) => log.warn(`${controller}: ${key}`, { error }),
    onTrouble: (error) => log.warn('controllers', { error }),
  };
}

async function writeKubeconfig(server: EmbeddedServer, path: string): Promise<void> {
  try {
    await server.writeKubeconfig(path);
  } catch (error) {
    await server.close();
    throw new CliError(
      `cannot write the kubeconfig ${path}: ${(error as Error).message}; choose another file with --kubeconfig`,
    );
  }
}
