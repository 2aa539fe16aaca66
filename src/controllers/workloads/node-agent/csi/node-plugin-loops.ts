import { CsiCallError } from '../../../../csi/csi-errors.ts';
import type { ServedCsiDriver } from '../../../../csi/served-driver.ts';
import type { Pod } from '../../../../kube/api/core.ts';
import { isReason } from '../../../../kube/api-error.ts';
import type { ControllerContext } from '../../../../reconcile/controller.ts';
import { WorkQueue } from '../../../../reconcile/work-queue.ts';
import { type Requeue, runWorkers } from '../../../../reconcile/workers.ts';
import type { AgentCaches } from '../caches/agent-caches.ts';
import type { CsiNodeSource, NodePlugins } from '../csi-records/node-plugins.ts';
import { PluginRegistration } from './plugin-registration.ts';
import { PluginVolumes } from './plugin-volumes.ts';
import { VolumeOperations } from './volume-operations.ts';
import { volumeRequestsOf } from './volume-request.ts';
import type { VolumeTokens } from './volume-tokens.ts';

/** Limits the concurrent calls to one plugin. Each plugin has its own, so one that hangs holds up no other. */
const workers = 8;

/** As a kubelet retries the registration of a plugin. */
const retryBaseMs = 500;
const retryMaxMs = 122_000;

/** After a call that did not reach the plugin: it may have been restarted, perhaps in another version. */
const reconnectMs = 1_000;

/** After a write that lost against another one. */
const conflictMs = 10;

/** The key of the registration; all other keys are volume handles. */
const registrationKey = '';

export interface NodePluginLoopsOptions {
  readonly context: ControllerContext;
  readonly caches: AgentCaches;
  readonly plugins: NodePlugins;
  readonly tokens: VolumeTokens;
  readonly wakePod: (podKey: string) => void;
  readonly reportNode: (nodeName: string) => void;
  /** A plugin has answered: pods of the node may start. */
  readonly wakeNode: (nodeName: string) => void;
}

/**
 * One loop for each node plugin: it registers the plugin, and brings its volumes to the state that pods need. A plugin gets its loop when it
 * answers for the first time.
 */
export class NodePluginLoops {
  readonly #options: NodePluginLoopsOptions;
  readonly #registration: PluginRegistration;
  /** Key: node and driver. */
  readonly #loops = new Map<string, PluginLoop>();
  readonly #ends = new Set<Promise<void>>();

  constructor(options: NodePluginLoopsOptions) {
    this.#options = options;
    const { context, caches, plugins } = options;
    this.#registration = new PluginRegistration(context, caches, plugins);
  }

  /** Starts the loops; they end with `signal`. The returned functions end the wait for plugins that have not answered. */
  start(signal: AbortSignal): readonly (() => void)[] {
    return [...this.#options.plugins.sources].map(([nodeName, source]) => {
      const join = (plugin: ServedCsiDriver) => this.#join(nodeName, source, plugin, signal);
      for (const plugin of source.drivers.all()) join(plugin);
      return source.drivers.onJoin(join);
    });
  }

  /** Resolves when all loops have ended. */
  async ended(): Promise<void> {
    await Promise.all(this.#ends);
  }

  get registration(): PluginRegistration {
    return this.#registration;
  }

  /** Asks for the volumes of the pod that plugins serve; true if all are published. */
  publish(pod: Pod): boolean {
    const nodeName = pod.spec?.nodeName ?? '';
    if (!this.#options.plugins.isConfigured(nodeName)) return true;
    const requests = volumeRequestsOf(pod, this.#options.caches);
    const served = requests.flatMap((request) => {
      const loop = this.#loops.get(loopKey(nodeName, request.driver));
      return loop === undefined ? [] : [{ request, loop }];
    });
    const answers = served.map(({ request, loop: { volumes, queue } }) => {
      const isReady = volumes.request(request);
      if (!isReady || volumes.isToReconcile(request)) queue.add(request.volumeHandle);
      return isReady;
    });
    return answers.every(Boolean);
  }

  /** The pod may have ended: its volumes are unpublished. */
  release(pod: Pod): void {
    const { uid = '' } = pod.metadata ?? {};
    const nodeName = pod.spec?.nodeName ?? '';
    if (!this.#options.plugins.isConfigured(nodeName)) return;
    for (const { driver, volumeHandle, pods } of this.#options.plugins.records(nodeName))
      if (pods[uid] !== undefined) this.#loops.get(loopKey(nodeName, driver))?.queue.add(volumeHandle);
    for (const [key, { volumes, queue }] of this.#loops)
      if (key.startsWith(`${nodeName} `)) for (const handle of volumes.requestedBy(uid)) queue.add(handle);
  }

  /** The Node or its CSINode has changed. */
  registerAgain(nodeName: string): void {
    for (const [key, { queue }] of this.#loops)
      if (key.startsWith(`${nodeName} `)) queue.add(registrationKey);
  }

  /** The CSIDriver has changed: it says how often the limit of the driver is read. */
  driverChanged(driver: string): void {
    for (const [key, { queue }] of this.#loops) if (key.endsWith(` ${driver}`)) queue.add(registrationKey);
  }

  /** The node lacked a slot for a volume of the driver: as a kubelet does, its limit is read again if the CSIDriver has a period. */
  slotsExhausted(nodeName: string, driver: string): void {
    if (this.#registration.updatesLimit(driver))
      this.#loops.get(loopKey(nodeName, driver))?.queue.add(registrationKey);
  }

  #join(nodeName: string, source: CsiNodeSource, plugin: ServedCsiDriver, signal: AbortSignal): void {
    const { context, plugins } = this.#options;
    const loop = this.#loopOf(nodeName, source, plugin);
    this.#loops.set(loopKey(nodeName, plugin.name), loop);
    loop.queue.add(registrationKey);
    // These are the volumes that an earlier process left.
    for (const { driver, volumeHandle } of plugins.records(nodeName))
      if (driver === plugin.name) loop.queue.add(volumeHandle);
    const stopListening = plugin.onCallEnd(({ method, error }) => {
      if (method !== 'NodeGetInfo' && error instanceof CsiCallError && error.code === 'Unavailable')
        loop.queue.addAfter(registrationKey, reconnectMs);
    });
    const reconcile = (key: string) => this.#reconcile(nodeName, plugin, loop, key, signal);
    const onError = (error: unknown, key: string) => {
      const what = key === registrationKey ? `plugin ${plugin.name} on ${nodeName}` : `volume ${key}`;
      context.report({ controller: 'node-agent', key: what, error });
    };
    const ended = runWorkers(loop.queue, reconcile, { workers, signal, onError }).finally(stopListening);
    this.#ends.add(ended);
    this.#options.reportNode(nodeName);
    this.#options.wakeNode(nodeName);
  }

  #loopOf(nodeName: string, { directory }: CsiNodeSource, plugin: ServedCsiDriver): PluginLoop {
    const { context, caches, plugins, tokens, wakePod, reportNode } = this.#options;
    const parts = { context, caches, plugins, tokens, nodeName, plugin, directory };
    const operations = new VolumeOperations(parts);
    const report = () => reportNode(nodeName);
    return {
      queue: new WorkQueue({ clock: context.clock, retryBaseMs, retryMaxMs }),
      volumes: new PluginVolumes({ context, caches, operations, wakePod, reportNode: report }),
    };
  }

  async #reconcile(
    nodeName: string,
    plugin: ServedCsiDriver,
    { volumes }: PluginLoop,
    key: string,
    signal: AbortSignal,
  ): Promise<Requeue | undefined> {
    if (key !== registrationKey) return await volumes.reconcile(key, signal);
    try {
      return await this.#registration.register(nodeName, plugin, signal);
    } catch (error) {
      // The node's status, or another plugin's entry, was written meanwhile.
      if (isReason(error, 'Conflict') || isReason(error, 'AlreadyExists')) return { afterMs: conflictMs };
      throw error;
    }
  }
}

interface PluginLoop {
  readonly queue: WorkQueue;
  readonly volumes: PluginVolumes;
}

function loopKey(nodeName: string, driver: string): string {
  return `${nodeName} ${driver}`;
}
