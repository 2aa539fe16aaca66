import { hostname } from 'node:os';
import { join } from 'node:path';
import { EmbeddedServer, type EmbeddedServerOptions } from '../apiserver/embedded-server.ts';
import type { OperatorRules } from '../apiserver/registry/context/operator-rules.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { EmbeddedCluster } from '../cluster/embedded-cluster.ts';
import type { ControllerSettings } from '../controllers/all-controllers.ts';
import {
  type RunControllersOptions,
  type RunningControllers,
  runControllers,
} from '../controllers/run-controllers.ts';
import { withZonalAffinity } from '../controllers/volumes/zonal-upgrade/zonal-admission.ts';
import { zonalUpgradeController } from '../controllers/volumes/zonal-upgrade/zonal-upgrade.ts';
import { packageVersion } from '../io/files/package-version.ts';
import type { Controller } from '../reconcile/controller.ts';
import { defaultSchedulerName, schedulerNamesDefault } from '../reconcile/leases/scheduler-names.ts';
import { realClock } from '../runtime/clock.ts';
import { systemIds } from '../runtime/ids.ts';
import type { Log } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { systemRandom } from '../runtime/random.ts';
import { Supervisor } from '../runtime/supervisor.ts';
import { checkDirectoryModes } from './data-directory-modes.ts';
import { ownDefinitions } from './own-definitions.ts';

export interface ControlPlaneOptions {
  /** The data directory. Without it, all data is in memory and ends with the process. */
  readonly dataDirectory?: string | undefined;
  readonly host?: string | undefined;
  /** 0, the default, picks a free port. */
  readonly port?: number | undefined;
  /** The controllers to run, by name. */
  readonly controllers: readonly string[];
  /** Controllers that run in addition. */
  readonly extraControllers?: readonly Controller[] | undefined;
  /**
   * By default the scheduler also places the pods that name none, because no other scheduler runs here, and `local.stowage.dev` has its
   * directories in the data directory.
   */
  readonly settings?:
    | (Omit<ControllerSettings, 'version' | 'clusterAuthority' | 'localRoot'> &
        Pick<RunControllersOptions, 'csiNode'>)
    | undefined;
  /** Pages besides the API, on the same port. */
  readonly extraPages?: EmbeddedServerOptions['extraPages'];
  readonly log: Log;
}

/** How often `ready` looks whether the controllers have read the cluster. */
const readyPollMs = 5;

/** How long closing waits for controllers that do not end. */
const controllersStopMaxMs = 1_000;

/**
 * An API server and controllers in this process.
 *
 * 1. `start` resolves when the API server answers. If any step fails, everything that was opened is closed again.
 * 2. `ready` resolves when every controller has read the cluster; `/readyz` reports the same.
 * 3. `close` ends the controllers first, because they write, and then the server. Every acknowledged write is durable before that.
 */
export class EmbeddedControlPlane {
  readonly server: EmbeddedServer;
  /** Reaches the API server without HTTP. */
  readonly cluster: Cluster;
  readonly #supervisor: Supervisor;
  readonly #isReady: () => boolean;

  private constructor(server: EmbeddedServer, supervisor: Supervisor, isReady: () => boolean) {
    this.server = server;
    this.cluster = new EmbeddedCluster({ registry: server.registry, manager: 'stowage' });
    this.#supervisor = supervisor;
    this.#isReady = isReady;
  }

  static async start(options: ControlPlaneOptions): Promise<EmbeddedControlPlane> {
    const { log, dataDirectory } = options;
    if (dataDirectory !== undefined)
      for (const warning of checkDirectoryModes(dataDirectory)) log.warn(warning);
    const metrics = new Metrics();
    let running: RunningControllers | undefined;
    const isReady = (): boolean => running !== undefined && running.waitingFor().length === 0;
    const server = await EmbeddedServer.start({
      dataDirectory,
      host: options.host,
      port: options.port,
      clock: realClock,
      ids: systemIds,
      random: systemRandom,
      definitions: await ownDefinitions(),
      rules: operatorRules(options.controllers),
      onError: (error, where) => log.error(where, { error }),
      readyChecks: {
        controllers: () => (isReady() ? undefined : 'the controllers have not read the cluster yet'),
      },
      moreMetrics: () => metrics.render(),
      extraPages: options.extraPages,
    });
    const supervisor = new Supervisor({
      clock: realClock,
      random: systemRandom,
      onCrash: ({ name, error }) => log.error(name, { error }),
      stopDeadlineMs: controllersStopMaxMs,
    });
    const plane = new EmbeddedControlPlane(server, supervisor, isReady);
    running = plane.#runControllers(options, metrics);
    return plane;
  }

  #runControllers(options: ControlPlaneOptions, metrics: Metrics): RunningControllers {
    const { registry, certificate } = this.server;
    const { log } = options;
    return runControllers({
      schedulerNames: [...schedulerNamesDefault, defaultSchedulerName],
      localRoot: options.dataDirectory && join(options.dataDirectory, 'volumes'),
      // Nodes are simulated: their pods need no data path.
      allocationOnly: true,
      createsDiskClass: true,
      requestToken: (account, spec) => this.server.issueToken(account, spec),
      ...options.settings,
      version: packageVersion(),
      clusterAuthority: certificate,
      names: options.controllers,
      more: options.extraControllers,
      cluster: this.cluster,
      resources: registry.kinds.all.filter(({ storedAs }) => storedAs === undefined),
      clock: realClock,
      random: systemRandom,
      ids: systemIds,
      instance: hostname(),
      supervisor: this.#supervisor,
      metrics,
      log,
      report: ({ controller, key, error }) => log.warn(`${controller}: ${key}`, { error }),
      onError: (error) => log.warn('controllers', { error }),
    });
  }

  /** Resolves when the controllers have read the cluster, or when `signal` aborts. */
  async ready(signal: AbortSignal): Promise<void> {
    while (!this.#isReady() && !signal.aborted) await realClock.sleep(readyPollMs, signal);
  }

  async close(): Promise<void> {
    await this.#supervisor.close();
    await this.server.close();
  }
}

/** Changes that a controller would immediately make to a new object are made before the object is stored. */
function operatorRules(controllers: readonly string[]): OperatorRules {
  return controllers.includes(zonalUpgradeController.name) ? { persistentVolumes: withZonalAffinity } : {};
}
