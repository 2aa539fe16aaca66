import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { EmbeddedCluster } from '../cluster/embedded/embedded-cluster.ts';
import { EmbeddedServer } from '../cluster/embedded/embedded-server.ts';
import type { OperatorRules } from '../cluster/embedded/registry/operator-rules.ts';
import { StoreError } from '../cluster/embedded/store/store-error.ts';
import type { ControllerSettings } from '../controllers/all-controllers.ts';
import { selectControllers } from '../controllers/controller-names.ts';
import { runControllers } from '../controllers/run-controllers.ts';
import { withZonalAffinity } from '../controllers/volumes/zonal-upgrade/zonal-admission.ts';
import { zonalUpgrade } from '../controllers/volumes/zonal-upgrade/zonal-upgrade.ts';
import { realClock } from '../runtime/clock.ts';
import { systemIds } from '../runtime/ids.ts';
import { Metrics } from '../runtime/metrics.ts';
import { systemRandom } from '../runtime/random.ts';
import { Supervisor } from '../runtime/supervisor.ts';
import { CliError, usage } from './cli-error.ts';
import { featureGatesOf } from './feature-gates.ts';
import { stopRequested } from './stop-signals.ts';

export interface UpFlags {
  readonly data: string;
  readonly port: string;
  readonly host: string;
  readonly kubeconfig?: string;
  readonly controllers: string;
  readonly console: boolean;
  readonly featureGates: string;
}

/** What ending may take in all; the rest of the five seconds is for Node to exit. */
const stopMaxMs = 4_500;

/** `stowage up`: an API server on this machine and the controllers that go with it, until somebody stops it. */
export async function up(flags: UpFlags): Promise<void> {
  const names = controllersOf(flags);
  const { VolumeScheduling: volumeScheduling } = featureGatesOf(flags.featureGates);
  // As a variable that is not set would have it; the current folder is not meant.
  if (flags.data === '') throw usage('--data: give a directory');
  const dataDirectory = resolve(flags.data);
  const stop = stopRequested();
  const server = await start(flags, dataDirectory, rulesOf(names));
  const supervisor = runOn(server, names, { localRoot: join(dataDirectory, 'volumes'), volumeScheduling });
  const kubeconfig = resolve(flags.kubeconfig ?? `${dataDirectory}/kubeconfig`);
  await writeKubeconfig(server, kubeconfig);
  say(`listening on ${server.url}, data in ${dataDirectory}, controllers: ${names.join(', ') || 'none'}`);
  process.stdout.write(`export KUBECONFIG=${kubeconfig}\n`);

  say(`${await stop}: stopping`);
  // Whatever hangs must not keep the process: everything that was acknowledged is durable already.
  realClock.after(stopMaxMs, () => process.exit(0));
  await supervisor.close();
  await server.close();
  process.exit(0);
}

function controllersOf({ controllers }: UpFlags): readonly string[] {
  const selected = selectControllers(controllers);
  if (!selected.ok) throw usage(selected.problem);
  return selected.names;
}

/** What controllers would do to a new object at once is done before it is stored. */
function rulesOf(names: readonly string[]): OperatorRules {
  return names.includes(zonalUpgrade.name) ? { persistentVolumes: withZonalAffinity } : {};
}

async function start(flags: UpFlags, dataDirectory: string, rules: OperatorRules): Promise<EmbeddedServer> {
  const port = portOf(flags.port);
  try {
    return await EmbeddedServer.start({
      dataDirectory,
      host: flags.host,
      port,
      clock: realClock,
      ids: systemIds,
      random: systemRandom,
      rules,
      onError: (error, where) => complain(where, error),
    });
  } catch (error) {
    throw explained(error, flags, dataDirectory);
  }
}

function portOf(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw usage(`--port: "${text}" is not a port; give a number from 0 to 65535, where 0 picks a free one`);
}

/** Errors of the machine, as something that a person can act on. */
function explained(error: unknown, { host, port }: UpFlags, dataDirectory: string): unknown {
  if (error instanceof StoreError) return new CliError(error.message, 1, { cause: error });
  switch ((error as NodeJS.ErrnoException | undefined)?.code) {
    case 'EADDRINUSE':
      return new CliError(
        `port ${port} of ${host} is in use; stop what listens there, or choose another with --port (0 picks a free one)`,
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new CliError(`this machine has no address ${host}; choose one that it has with --host`);
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new CliError(
        `not allowed: ${(error as Error).message}; choose a port above 1023 with --port, or a directory that you may write with --data (now ${dataDirectory})`,
      );
    case 'ENOSPC':
      return new CliError(
        `the disk of ${dataDirectory} is full; free some space, or choose another with --data`,
      );
    default:
      return error;
  }
}

function runOn(
  { registry }: EmbeddedServer,
  names: readonly string[],
  settings: ControllerSettings,
): Supervisor {
  const supervisor = new Supervisor({
    clock: realClock,
    random: systemRandom,
    onCrash: ({ name, error }) => complain(name, error),
    stopDeadlineMs: 1_000,
  });
  runControllers({
    names,
    cluster: new EmbeddedCluster({ registry, manager: 'stowage' }),
    resources: registry.kinds.all.filter(({ storedAs }) => storedAs === undefined),
    clock: realClock,
    random: systemRandom,
    supervisor,
    report: ({ controller, key, error }) => complain(`${controller}: ${key}`, error),
    ...settings,
    instance: hostname(),
    ids: systemIds,
    metrics: new Metrics(),
    onTrouble: (error) => complain('controllers', error),
  });
  return supervisor;
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

function say(text: string): void {
  process.stderr.write(`stowage: ${text}\n`);
}

function complain(where: string, error: unknown): void {
  say(`${where}: ${error instanceof Error ? error.message : String(error)}`);
}
