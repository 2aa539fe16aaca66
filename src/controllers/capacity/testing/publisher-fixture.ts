import type { Cluster } from '../../../cluster/cluster.ts';
import { InterceptedCluster } from '../../../cluster/intercepted-cluster.ts';
import { isObjectWrite } from '../../../cluster/testing/fault-hooks.ts';
import { InProcessDriver } from '../../../csi/in-process-driver.ts';
import type { CsiDriverSet, ServedCsiDriver } from '../../../csi/served-driver.ts';
import { EnforcingDriver, type EnforcingDriverOptions } from '../../../csi/testing/enforcing-driver.ts';
import type { StorageClass } from '../../../kube/api/storage.ts';
import {
  csiDrivers,
  csiNodes,
  csiStorageCapacities,
  driverCapacities,
  nodes,
  persistentVolumes,
  storageClasses,
} from '../../../kube/resources.ts';
import { type LogFields, silentLog } from '../../../runtime/log.ts';
import type { Supervisor } from '../../../runtime/supervisor.ts';
import type { CapacitySettings } from '../../capacity-settings.ts';
import { VirtualTimeCluster } from '../../testing/virtual-time-cluster.ts';
import { type CapacityControllerSettings, capacityController } from '../capacity-controller.ts';

export const gib = 1024n ** 3n;
export const topologyKey = 'topology.example.com/node';
export const driverName = 'enforcing.example.com';

export interface PublisherFixtureOptions {
  /** Nodes with the driver, and the bytes of their pools. */
  readonly pools: Readonly<Record<string, bigint>>;
  readonly settings?: Partial<CapacitySettings>;
  /** The node of the publisher; undefined: one for all nodes. */
  readonly nodeName?: string;
  readonly driver?: Partial<EnforcingDriverOptions>;
  /** Names of classes of the driver; `fast` by default. */
  readonly classes?: readonly string[];
  /** Whether the cluster serves DriverCapacity; by default if the settings need it. */
  readonly ownKinds?: boolean;
}

/** A driver that accounts for every byte, and a publisher of its capacity, on a cluster under virtual time. */
export class PublisherFixture implements AsyncDisposable {
  readonly environment: VirtualTimeCluster;
  readonly cluster: Cluster;
  readonly driver: EnforcingDriver;
  /** Writes of the publisher, as `VERB RESOURCE`. */
  readonly writes: string[] = [];
  /** Warnings of the publisher. */
  readonly warnings: string[] = [];
  readonly #options: PublisherFixtureOptions;
  readonly #served: ServedCsiDriver;
  #run: Supervisor | undefined;

  private constructor(
    environment: VirtualTimeCluster,
    options: PublisherFixtureOptions,
    driver: EnforcingDriver,
    served: ServedCsiDriver,
  ) {
    this.environment = environment;
    this.cluster = environment.cluster;
    this.driver = driver;
    this.#options = options;
    this.#served = served;
    const warn = (message: string, fields: LogFields = {}) => {
      this.warnings.push(`${message}: ${fields.error instanceof Error ? fields.error.message : ''}`);
    };
    environment.log = { ...silentLog, warn };
  }

  /** A cluster with nodes, CSINodes and classes; the publisher has not started. */
  static async prepare(options: PublisherFixtureOptions): Promise<PublisherFixture> {
    const driver = new EnforcingDriver({ ...options.driver, pools: options.pools });
    const served = await InProcessDriver.connect(driver.services(), new AbortController().signal);
    const environment = await VirtualTimeCluster.start();
    const fixture = new PublisherFixture(environment, options, driver, served);
    const { form, forEphemeral = false } = options.settings ?? {};
    const { ownKinds = form === 'DriverCapacity' || forEphemeral } = options;
    if (ownKinds) await environment.installOwnKinds();
    for (const name of Object.keys(options.pools)) await fixture.node(name);
    for (const name of options.classes ?? ['fast']) await fixture.storageClass(name);
    return fixture;
  }

  static async start(options: PublisherFixtureOptions): Promise<PublisherFixture> {
    const fixture = await PublisherFixture.prepare(options);
    fixture.run();
    await fixture.settle();
    return fixture;
  }

  get served(): ServedCsiDriver {
    return this.#served;
  }

  get drivers(): CsiDriverSet {
    const driver = this.#served;
    return {
      get: (name) => (name === driver.name ? driver : undefined),
      all: () => [driver],
      onJoin: () => () => {},
    };
  }

  get controllerOptions(): CapacityControllerSettings {
    const { settings = {}, nodeName } = this.#options;
    return { csiDrivers: this.drivers, csi: { timeoutMs: 10_000, nodeName, capacity: settings } };
  }

  run(cluster: Cluster = this.cluster, options: Partial<CapacityControllerSettings> = {}): Supervisor {
    const observed = new InterceptedCluster(cluster, {
      before: (call) =>
        void (isObjectWrite(call) && this.writes.push(`${call.verb} ${call.resource.plural}`)),
    });
    this.#run = this.environment.run(
      [capacityController({ ...this.controllerOptions, ...options })],
      observed,
    );
    return this.#run;
  }

  async stop(): Promise<void> {
    await this.#run?.close();
  }

  async settle(ms?: number): Promise<void> {
    await this.environment.settle(ms);
  }

  /** Calls of GetCapacity and writes since the last time, as `CALLS calls, WRITES`. */
  takeWork(): string {
    const calls = this.driver.callsOf('GetCapacity').length;
    this.driver.calls.length = 0;
    return [`${calls} calls`, ...this.writes.splice(0)].join(', ');
  }

  /** The published reports, as `CLASS SEGMENT: CAPACITY`, sorted. */
  async published(): Promise<readonly string[]> {
    const { items } = await this.cluster.resource(csiStorageCapacities).list();
    return items
      .map(({ storageClassName, nodeTopology, capacity, maximumVolumeSize }) => {
        const values = Object.values(nodeTopology?.matchLabels ?? {}).join('+');
        const largest = maximumVolumeSize === undefined ? '' : ` (largest ${maximumVolumeSize})`;
        return `${storageClassName} ${values}: ${capacity}${largest}`;
      })
      .sort();
  }

  /** The pools of all DriverCapacity objects, as `CLASS POOL: CAPACITY`, sorted. */
  async pools(): Promise<readonly string[]> {
    const { items } = await this.cluster.resource(driverCapacities).list();
    return items
      .flatMap(({ status }) => status?.storage ?? [])
      .flatMap(({ storageClassName, pools = [] }) =>
        pools.map(({ name, capacity, nodeList }) => {
          const list = nodeList === undefined ? '' : ` on ${nodeList.join(',')}`;
          return `${storageClassName} ${name}: ${capacity}${list}`;
        }),
      )
      .sort();
  }

  // ── Objects ──

  async node(
    name: string,
    labels: Readonly<Record<string, string>> = { [topologyKey]: name },
  ): Promise<void> {
    await this.cluster.resource(nodes).create({ metadata: { name, labels } });
    await this.csiNode(name);
  }

  async csiNode(name: string, topologyKeys: readonly string[] = [topologyKey]): Promise<void> {
    await this.cluster.resource(csiNodes).create({
      metadata: { name },
      spec: { drivers: [{ name: driverName, nodeID: name, topologyKeys }] },
    });
  }

  async storageClass(name: string, rest: Partial<StorageClass> = {}): Promise<void> {
    await this.cluster.resource(storageClasses).create({
      metadata: { name },
      provisioner: driverName,
      volumeBindingMode: 'WaitForFirstConsumer',
      ...rest,
    });
  }

  async csiDriver(spec: object = { storageCapacity: true }): Promise<void> {
    await this.cluster.resource(csiDrivers).create({ metadata: { name: driverName }, spec });
  }

  /** Creates a volume as a provisioner does: first by the driver, then as a PersistentVolume. */
  async provision(name: string, segment: string, bytes: bigint, className = 'fast'): Promise<void> {
    const requisite = [{ segments: { [topologyKey]: segment } }];
    const signal = new AbortController().signal;
    const { volume } = await this.#served.call(
      'CreateVolume',
      {
        name,
        capacityRange: { requiredBytes: bytes },
        volumeCapabilities: [{ accessType: { case: 'mount', value: {} }, accessMode: { mode: 1 } }],
        accessibilityRequirements: { requisite, preferred: requisite },
      },
      { signal },
    );
    const matchExpressions = [{ key: topologyKey, operator: 'In' as const, values: [segment] }];
    await this.cluster.resource(persistentVolumes).create({
      metadata: { name },
      spec: {
        storageClassName: className,
        capacity: { storage: String(bytes) },
        accessModes: ['ReadWriteOnce'],
        csi: { driver: driverName, volumeHandle: volume?.volumeId ?? '' },
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } },
      },
    });
  }

  async unprovision(name: string): Promise<void> {
    const signal = new AbortController().signal;
    await this.#served.call('DeleteVolume', { volumeId: `id-${name}` }, { signal });
    const client = this.cluster.resource(persistentVolumes);
    // No controller runs that would remove the finalizer.
    await client.patch({ name }, { type: 'merge', body: { metadata: { finalizers: null } } });
    await client.delete({ name });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.environment[Symbol.asyncDispose]();
  }
}
