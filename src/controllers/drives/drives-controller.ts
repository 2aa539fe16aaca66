import type { Projected } from '../../cluster/cluster.ts';
import { InProcessDriver } from '../../csi/in-process-driver.ts';
import type { JoiningDriverSet } from '../../csi/joining-driver-set.ts';
import type { CapacityChanges } from '../../csi/served-driver.ts';
import { nodeExistence } from '../../drives/controller/drive-cache.ts';
import { meterDrives } from '../../drives/controller/drive-metrics.ts';
import { DriveStateEvents } from '../../drives/controller/drive-state-events.ts';
import { LedgerReconciler } from '../../drives/controller/ledger-reconciler.ts';
import type { LedgerSource } from '../../drives/controller/ledger-source.ts';
import { serveController } from '../../drives/controller/serve-controller.ts';
import { drivesServices } from '../../drives/drives-services.ts';
import type { Node, PersistentVolume } from '../../kube/api/core.ts';
import { isEqualJson } from '../../kube/deep-equal.ts';
import { nodes, persistentVolumeClaims, persistentVolumes, pods } from '../../kube/resources.ts';
import { type Drive, drives, driveTopology } from '../../kube/stowage/drive.ts';
import type { Controller, ControllerContext } from '../../reconcile/controller.ts';
import {
  type LoopContext,
  type LoopDefinition,
  type Reconciler,
  runReconciler,
} from '../../reconcile/define-controller.ts';
import type { Informer } from '../../reconcile/informer/informer.ts';
import { ensureDriveCatalog } from './drive-catalog.ts';
import { registerDriveNode, topologyPatch } from './drive-nodes.ts';

const controllerName = 'drives';
const catalogKey = 'catalog';
const nodePrefix = 'node ';

export interface DrivesControllerSettings {
  /** The set that the driver of this process joins; without it the controller does nothing. */
  readonly inProcessDrivers?: JoiningDriverSet | undefined;
  readonly version?: string | undefined;
  /** Labels of Nodes that are topology segments of their drives, beside zone and region. */
  readonly driveTopologyKeys?: readonly string[] | undefined;
}

/**
 * Runs the controller service of `drives.stowage.dev` in this process, and creates what its volumes need: the CSIDriver, a class, and for
 * each node with drives its label and its entry in the CSINode. The class and the CSIDriver stay as they are if they exist. Of a Drive's
 * status it writes the condition `LedgerMatches`, and the topology where no node service does. Events report drives that fail.
 */
export function drivesController({
  inProcessDrivers,
  version = 'unknown',
  driveTopologyKeys = [],
}: DrivesControllerSettings = {}): Controller {
  return {
    name: controllerName,
    run: async (context, signal) => {
      const source = informedLedgers(context);
      const onError = (error: unknown, key: string) =>
        context.report({ controller: controllerName, key, error });
      const ledgers = new LedgerReconciler({ ...context, source, onError });
      if (inProcessDrivers === undefined) return;
      const known = context.informers.of(drives);
      const stopMetering = meterDrives(context.metrics, {
        drives: () => known.values() as Iterable<Drive>,
        hasNode: nodeExistence(context.informers.of(nodes)),
      });
      const nodesLoop: LoopDefinition = {
        workers: 1,
        create: (loopContext) => new DriveNodes(loopContext, driveTopologyKeys),
      };
      try {
        await Promise.all([
          serveDriver(context, { inProcessDrivers, version }, signal),
          runReconciler(context, controllerName, nodesLoop, signal),
          ledgers.run(signal),
          new DriveStateEvents({ ...context, source }).run(signal),
        ]);
      } finally {
        stopMetering();
      }
    },
  };
}

interface DriverSettings {
  readonly inProcessDrivers: JoiningDriverSet;
  readonly version: string;
}

/** The caches that the controllers of this process share. */
function informedLedgers({ informers }: Pick<ControllerContext, 'informers'>): LedgerSource {
  return {
    synced: async (signal) => {
      const caches = [
        informers.of(drives),
        informers.of(persistentVolumes),
        informers.of(persistentVolumeClaims),
        informers.of(pods),
      ];
      return (await Promise.all(caches.map((cache) => cache.synced(signal)))).every((isKnown) => isKnown);
    },
    get volumes() {
      return informers.of(persistentVolumes).values() as Iterable<PersistentVolume>;
    },
    onDriveChange: (listener) =>
      informers.of(drives).addHandler({
        added: (drive) => listener(drive as Drive, undefined),
        updated: (after, before) => listener(after as Drive, before as Drive),
      }),
    read: async () => ({
      drives: [...informers.of(drives).values()] as Drive[],
      volumes: [...informers.of(persistentVolumes).values()] as PersistentVolume[],
      claimNamed: (key) => informers.of(persistentVolumeClaims).get(key),
      podNamed: (key) => informers.of(pods).get(key),
    }),
  };
}

async function serveDriver(
  context: ControllerContext,
  { inProcessDrivers, version }: DriverSettings,
  signal: AbortSignal,
): Promise<void> {
  const onError = (error: unknown) => context.report({ controller: controllerName, key: 'drives', error });
  await serveController(
    { ...context, onError, nodes: context.informers.of(nodes) },
    async ({ methods, cache }) => {
      // After the end of this run the driver answers Unavailable; the next run joins with its own driver.
      const services = drivesServices({ version, controller: () => (signal.aborted ? undefined : methods) });
      const changes: CapacityChanges = (listener) => cache.onCapacityChange(listener);
      inProcessDrivers.join(await InProcessDriver.connect(services, signal, changes));
    },
    signal,
  );
}

/**
 * Keys are `catalog`, for the CSIDriver and the class, and `node NAME` for nodes that have drives. Each reconciliation compares a node with its
 * labels, and writes what differs, so after a crash the next one completes it.
 */
class DriveNodes implements Reconciler {
  readonly caches: Reconciler['caches'];
  readonly #context: LoopContext;
  readonly #topologyKeys: readonly string[];
  readonly #drives: Informer<Drive>;
  readonly #nodes: Informer<Node>;

  constructor(context: LoopContext, topologyKeys: readonly string[]) {
    this.#context = context;
    this.#topologyKeys = topologyKeys;
    this.#drives = context.informers.of(drives);
    this.#nodes = context.informers.of(nodes);
    this.caches = [this.#drives, this.#nodes];
  }

  listen(): readonly (() => void)[] {
    const { queue } = this.#context;
    const added = ({ spec }: Projected<Drive>) => {
      queue.add(catalogKey);
      if (spec?.nodeName) queue.add(`${nodePrefix}${spec.nodeName}`);
    };
    const nodeAdded = ({ metadata }: Projected<Node>) => {
      const name = metadata?.name ?? '';
      if (this.#drivesOf(name).length > 0) queue.add(`${nodePrefix}${name}`);
    };
    return [
      this.#drives.addHandler({
        added,
        updated: (drive) => {
          // Topology is compared for each drive that has reported something: then it may get volumes.
          const node = this.#nodes.get(drive.spec?.nodeName ?? '');
          if (node !== undefined && topologyPatch(drive as Drive, this.#segmentsOf(node)) !== undefined)
            added(drive);
        },
      }),
      this.#nodes.addHandler({
        added: nodeAdded,
        updated: (after, before) => {
          if (!isEqualJson(this.#segmentsOf(after), this.#segmentsOf(before))) nodeAdded(after);
        },
      }),
    ];
  }

  async reconcile(key: string, signal: AbortSignal): Promise<undefined> {
    const { cluster } = this.#context;
    const topologyKeys = this.#topologyKeys;
    const name = key.slice(nodePrefix.length);
    if (key === catalogKey) await ensureDriveCatalog(cluster, signal);
    else await registerDriveNode({ cluster, topologyKeys }, name, this.#drivesOf(name), signal);
  }

  #drivesOf(nodeName: string): readonly Drive[] {
    return ([...this.#drives.values()] as Drive[]).filter(({ spec }) => spec?.nodeName === nodeName);
  }

  #segmentsOf({ metadata }: Projected<Node>): Readonly<Record<string, string>> {
    return driveTopology(metadata?.name ?? '', metadata?.labels, this.#topologyKeys);
  }
}
