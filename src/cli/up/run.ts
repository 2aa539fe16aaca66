import { resolve } from 'node:path';
import { EmbeddedCluster } from '../../cluster/embedded-cluster.ts';
import { selectControllers } from '../../controllers/controller-names.ts';
import { type ControlPlaneOptions, EmbeddedControlPlane } from '../../embedded/embedded-control-plane.ts';
import { stowageProfile } from '../../engine/cluster-index/profile.ts';
import { isDiskFull } from '../../io/files/file-system-reason.ts';
import { makeDirectory } from '../../io/files/make-directory.ts';
import { realClock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { demoDiskPath, type StorageNodeFlags, storageNodeSettingsOf } from '../config/disk-agent-flags.ts';
import { CliError, usage } from '../errors/cli-error.ts';
import { type CsiFlags, csiSettingsOf } from '../flags/csi-flags.ts';
import { featureGatesOf, gatedProfile } from '../flags/feature-gates.ts';
import { type LogFlags, logOf } from '../flags/log-flags.ts';
import { topologyKeysIn } from '../flags/topology-keys.ts';
import { stopRequested } from '../serving/stop-signals.ts';
import { ConsolePages } from './console-pages.ts';
import { type CsiNodeFlags, csiNodeSettingsOf } from './csi-node-flags.ts';
import { emptyDataDirectory, markDataDirectory } from './data-directory.ts';
import { Demo, whatToTry } from './demo/demo.ts';
import { ownNames } from './demo/own-names.ts';
import {
  createSimulatedNodes,
  type SimulatedNodeFlags,
  type SimulatedNodes,
  simulatedNodesOf,
} from './demo/simulated-nodes.ts';
import { consoleOfPlane, type PlaneConsole } from './plane-console.ts';
import { explained } from './up-errors.ts';

export interface UpFlags extends LogFlags, CsiFlags, CsiNodeFlags, StorageNodeFlags, SimulatedNodeFlags {
  readonly data: string;
  readonly port: string;
  readonly host: string;
  readonly kubeconfig?: string;
  readonly controllers: string;
  readonly console: boolean;
  readonly consoleWrite?: boolean;
  readonly consoleHost?: readonly string[];
  readonly featureGates: string;
  readonly driveTopologyKeys?: string;
  readonly demo?: boolean;
  readonly fresh?: boolean;
}

/** The limit for stopping; the rest of the promised five seconds is for Node to exit. */
const stopMaxMs = 4_500;

/** `stowage up`: runs an API server and controllers on this machine until the process is stopped. */
export async function up(flags: UpFlags): Promise<void> {
  const plan = planOf(flags);
  const { log, demo, dataDirectory, names, kubeconfig } = plan;
  const stop = stopRequested();
  const ending = new AbortController();
  void stop.then(() => {
    ending.abort();
    // A component that hangs must not keep the process alive: every acknowledged write is durable already.
    realClock.after(stopMaxMs, () => process.exit(0));
  });
  const pages = flags.console ? new ConsolePages() : undefined;
  const plane = await startControlPlane(flags, plan, pages);
  await writeKubeconfig(plane, kubeconfig, log, ending.signal);
  let consoleOf: PlaneConsole | undefined;
  try {
    await plane.ready(ending.signal);
    consoleOf = pages && (await consoleOfPlane(plane, pages, { ...flags, log }));
    const listed = names.join(', ') || 'none';
    log.info(`listening on ${plane.server.url}, data in ${dataDirectory}, controllers: ${listed}`);
    await createNodes(plane, plan, ending.signal);
    await demo?.load(plane.server.registry, ending.signal);
  } catch (error) {
    // On a full disk, closing may never end.
    await Promise.race([plane.close(), realClock.sleep(stopMaxMs, ending.signal)]);
    throw explained(error, { ...flags, dataDirectory });
  }
  process.stdout.write(`export KUBECONFIG=${kubeconfig}\n`);
  if (demo !== undefined && flags.logFormat !== 'json')
    process.stderr.write(whatToTry(ownNames(process.argv[1] ?? '', process.env)));
  if (consoleOf !== undefined) log.info(`the console is on ${consoleOf.url}`);

  log.info(`${await stop}: stopping`);
  await consoleOf?.console.close();
  await plane.close();
  process.exit(0);
}

/** The checked flags. Nothing has been started yet. */
interface UpPlan {
  readonly log: Log;
  readonly names: readonly string[];
  readonly dataDirectory: string;
  readonly kubeconfig: string;
  readonly port: number;
  readonly demo: Demo | undefined;
  readonly simulatedNodes: SimulatedNodes | undefined;
  readonly settings: ControlPlaneOptions['settings'];
}

function planOf(flags: UpFlags): UpPlan {
  const log = logOf(flags);
  const names = controllersOf(flags);
  const gates = featureGatesOf(flags.featureGates);
  // An unset shell variable gives an empty string, and does not mean the current folder.
  if (flags.data === '') throw usage('--data: give a directory');
  const dataDirectory = resolve(flags.data);
  const demo = flags.demo ? new Demo(log) : undefined;
  return {
    log,
    names,
    dataDirectory,
    kubeconfig: resolve(flags.kubeconfig ?? `${dataDirectory}/kubeconfig`),
    port: portOf(flags.port),
    demo,
    simulatedNodes: simulatedNodesOf(flags),
    settings: {
      volumeScheduling: gates.VolumeScheduling,
      profile: gatedProfile(stowageProfile, gates),
      csi: csiSettingsOf(flags, { controllers: names }),
      csiNode: csiNodeSettingsOf(flags, { dataDirectory, controllers: names }),
      driveTopologyKeys: topologyKeysIn(flags.driveTopologyKeys, '--drive-topology-keys'),
      diskAgent: storageNodeSettingsOf(flags, {
        dataDirectory,
        controllers: names,
        host: flags.host,
        isDemo: flags.demo === true,
      }),
      ...(demo === undefined ? {} : { provisioners: demo.provisioners }),
    },
  };
}

async function createNodes(
  plane: EmbeddedControlPlane,
  { simulatedNodes, log }: UpPlan,
  signal: AbortSignal,
): Promise<void> {
  if (simulatedNodes === undefined) return;
  const cluster = new EmbeddedCluster({ registry: plane.server.registry, manager: 'stowage-up' });
  const created = await createSimulatedNodes(cluster, simulatedNodes, signal);
  log.info(`created ${created} simulated nodes, ${simulatedNodes.count - created} existed`);
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

async function startControlPlane(
  flags: UpFlags,
  plan: UpPlan,
  pages: ConsolePages | undefined,
): Promise<EmbeddedControlPlane> {
  const { host, fresh = false } = flags;
  const { dataDirectory, log, demo } = plan;
  try {
    if (fresh && (await emptyDataDirectory(dataDirectory))) log.info(`${dataDirectory} was emptied`);
    markDataDirectory(dataDirectory);
    if (demo !== undefined) makeDirectory(demoDiskPath(dataDirectory), 0o700);
    return await EmbeddedControlPlane.start({
      dataDirectory,
      host,
      port: plan.port,
      controllers: plan.names,
      extraControllers: demo?.controllers,
      settings: plan.settings,
      extraPages: pages,
      log,
    });
  } catch (error) {
    throw explained(error, { host, port: flags.port, dataDirectory });
  }
}

/**
 * Written as soon as the server answers, so that a script can wait for the file. If the disk is full, the server starts without it, so that objects can be
 * deleted, and writes the file as soon as there is space.
 */
async function writeKubeconfig(
  plane: EmbeddedControlPlane,
  path: string,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  try {
    await plane.server.writeKubeconfig(path);
  } catch (error) {
    if (isDiskFull(error)) {
      log.warn(`cannot write the kubeconfig ${path}: the disk is full; free some space, then it is written`);
      void writeWithSpace(plane, path, log, signal);
      return;
    }
    await plane.close();
    throw new CliError(
      `cannot write the kubeconfig ${path}: ${(error as Error).message}; choose another file with --kubeconfig`,
    );
  }
}

const kubeconfigRetryMs = 2_000;

async function writeWithSpace(
  plane: EmbeddedControlPlane,
  path: string,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await realClock.sleep(kubeconfigRetryMs, signal);
    try {
      await plane.server.writeKubeconfig(path);
      log.info(`wrote the kubeconfig ${path}`);
      return;
    } catch (error) {
      if (isDiskFull(error)) continue;
      log.error(`cannot write the kubeconfig ${path}`, { error });
      return;
    }
  }
}
