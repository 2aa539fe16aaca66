import { CsiStatusError } from '../../../csi/csi-errors.ts';
import type { NodePublishVolumeRequest } from '../../../csi/generated/csi.ts';
import { EnforcingDriver, type EnforcingDriverOptions } from '../../../csi/testing/enforcing-driver.ts';
import { JoiningDrivers } from '../../../csi/testing/joining-drivers.ts';
import type { PodSpec } from '../../../kube/api/core.ts';
import type { CSIDriverSpec, StorageClass } from '../../../kube/api/storage.ts';
import { inlineSizeAttribute } from '../../../kube/inline-volumes.ts';
import { bytesOf } from '../../../kube/quantities/bytes.ts';
import {
  csiDrivers,
  csiNodes,
  driverCapacities,
  nodes,
  persistentVolumeClaims,
  pods,
  storageClasses,
} from '../../../kube/resources.ts';
import { labels } from '../../../kube/well-known.ts';
import type { Controller } from '../../../reconcile/controller.ts';
import { allControllers, type ControllerSettings } from '../../all-controllers.ts';
import { capacityController } from '../../capacity/capacity-controller.ts';
import type { CapacitySettings } from '../../capacity-settings.ts';
import { VirtualTimeCluster } from '../../testing/virtual-time-cluster.ts';
import { MemoryKubeletDirectory } from '../../workloads/node-agent/csi/testing/memory-kubelet-directory.ts';

export const namespace = 'default';
export const driverName = 'pmem-csi.example.com';
export const topologyKey = 'pmem-csi.example.com/node';
export const gib = 2n ** 30n;

const settleMs = 5000;
const size = { cpu: '8', memory: '32Gi', pods: '200' };

export interface StorageFixtureOptions {
  /** GiB of each node, or of each segment that a node is in. */
  readonly pools: Readonly<Record<string, number>>;
  /** The segment of each node; by default each pool has its own node. */
  readonly segments?: Readonly<Record<string, string>>;
  readonly driver?: Partial<EnforcingDriverOptions>;
  readonly driverSpec?: CSIDriverSpec;
  readonly classes?: readonly Partial<StorageClass>[];
  readonly capacity?: Partial<CapacitySettings>;
  readonly profile?: ControllerSettings['profile'];
}

/**
 * A cluster under virtual time with all controllers and a CSI driver that enforces its capacity. `central`: one controller service for all
 * nodes, and one publisher. `perNode`: a driver on each node with its own pool, as a publisher on each node, and inline volumes.
 */
export class StorageFixture implements AsyncDisposable {
  readonly environment: VirtualTimeCluster;
  /** The drivers: one in all, or one for each node. */
  readonly drivers: readonly EnforcingDriver[];

  private constructor(environment: VirtualTimeCluster, drivers: readonly EnforcingDriver[]) {
    this.environment = environment;
    this.drivers = drivers;
  }

  static async central(options: StorageFixtureOptions): Promise<StorageFixture> {
    const driver = new EnforcingDriver({
      name: driverName,
      topologyKey,
      pools: poolsOf(options.pools),
      ...options.driver,
    });
    const fixture = await StorageFixture.#seed(options, [driver]);
    const served = await JoiningDrivers.of(driver);
    const csi = { addresses: [], timeoutMs: 10_000, capacity: options.capacity };
    fixture.#run(allControllers({ ...common, csiDrivers: served, csi, profile: options.profile }));
    for (const [name, segment] of Object.entries(segmentsOf(options))) await fixture.csiNode(name, segment);
    await fixture.settle();
    return fixture;
  }

  static async perNode(options: StorageFixtureOptions): Promise<StorageFixture> {
    const drivers = Object.keys(options.pools).map((nodeId) => {
      const pools = { [nodeId]: poolsOf(options.pools)[nodeId]! };
      return withInlineVolumes(
        new EnforcingDriver({ name: driverName, topologyKey, nodeId, pools, ...options.driver }),
      );
    });
    const fixture = await StorageFixture.#seed(options, drivers);
    const sources = new Map();
    const publishers: Controller[] = [];
    for (const driver of drivers) {
      const [nodeName = ''] = driver.pools.keys();
      const served = await JoiningDrivers.of(driver);
      sources.set(nodeName, { drivers: served, directory: new MemoryKubeletDirectory() });
      const csi = { nodeName, capacity: options.capacity };
      publishers.push({
        ...capacityController({ csiDrivers: served, csi }),
        name: `capacity-${nodeName}`,
      });
    }
    fixture.#run([...allControllers({ ...common, csiNodes: sources }), ...publishers]);
    await fixture.settle();
    return fixture;
  }

  static async #seed(
    options: StorageFixtureOptions,
    drivers: readonly EnforcingDriver[],
  ): Promise<StorageFixture> {
    const fixture = new StorageFixture(await VirtualTimeCluster.start(), drivers);
    await fixture.environment.installOwnKinds();
    const { cluster } = fixture.environment;
    for (const [name, segment] of Object.entries(segmentsOf(options))) await fixture.node(name, segment);
    const spec = { storageCapacity: true, attachRequired: false, ...options.driverSpec };
    await cluster.resource(csiDrivers).create({ metadata: { name: driverName }, spec });
    for (const one of options.classes ?? [{ metadata: { name: 'fast' } }])
      await cluster.resource(storageClasses).create({ ...waitingClass, ...one });
    return fixture;
  }

  get cluster() {
    return this.environment.cluster;
  }

  /** The only driver. */
  get driver(): EnforcingDriver {
    return this.drivers[0]!;
  }

  async settle(ms = settleMs): Promise<void> {
    await this.environment.settle(ms);
  }

  async node(name: string, segment: string): Promise<void> {
    await this.cluster.resource(nodes).create({
      metadata: { name, labels: { [labels.hostname]: name, [topologyKey]: segment } },
      status: { allocatable: size, capacity: size },
    });
  }

  async csiNode(name: string, segment: string): Promise<void> {
    await this.cluster.resource(csiNodes).create({
      metadata: { name },
      spec: { drivers: [{ name: driverName, nodeID: segment, topologyKeys: [topologyKey] }] },
    });
  }

  async claim(name: string, storage = '1Gi', storageClassName = 'fast'): Promise<void> {
    await this.cluster.resource(persistentVolumeClaims).create({
      metadata: { namespace, name },
      spec: { accessModes: ['ReadWriteOnce'], storageClassName, resources: { requests: { storage } } },
    });
  }

  async pod(name: string, volumes: PodSpec['volumes'] = []): Promise<void> {
    await this.cluster.resource(pods).create({
      metadata: { namespace, name },
      spec: { terminationGracePeriodSeconds: 1, containers: [{ name: 'main', image: 'redis' }], volumes },
    });
  }

  /** A pod with its own claim. */
  async podWithClaim(name: string, storage = '1Gi', storageClassName = 'fast'): Promise<void> {
    await this.claim(name, storage, storageClassName);
    await this.pod(name, [{ name: 'data', persistentVolumeClaim: { claimName: name } }]);
  }

  async podWithInlineVolume(name: string, csi: object = {}): Promise<void> {
    await this.pod(name, [{ name: 'data', csi: { driver: driverName, ...csi } }]);
  }

  async deletePod(name: string): Promise<void> {
    await this.cluster.resource(pods).delete({ namespace, name });
  }

  /** `NAME PHASE NODE` of every pod, sorted. */
  async podLines(): Promise<readonly string[]> {
    const { items } = await this.cluster.resource(pods).list();
    return items
      .map(({ metadata, spec, status }) =>
        `${metadata?.name} ${status?.phase} ${spec?.nodeName ?? ''}`.trimEnd(),
      )
      .sort();
  }

  /** Published pools for inline volumes, as `CLASS NODES CAPACITY`, sorted. */
  async inlinePools(): Promise<readonly string[]> {
    const { items } = await this.cluster.resource(driverCapacities).list();
    return items
      .flatMap(({ status }) => status?.storage ?? [])
      .flatMap(({ storageClassName, pools = [] }) =>
        pools.map(({ nodeList, capacity }) => `${storageClassName} ${nodeList?.join('+')} ${capacity}`),
      )
      .sort();
  }

  /** The calls of a method on all drivers. */
  callsOf(method: string): readonly unknown[] {
    return this.drivers.flatMap((driver) => driver.callsOf(method));
  }

  #run(controllers: readonly Controller[]): void {
    this.environment.run(controllers);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.environment[Symbol.asyncDispose]();
  }
}

const common = { schedulerNames: ['default-scheduler'] };
const waitingClass = { provisioner: driverName, volumeBindingMode: 'WaitForFirstConsumer' } as const;

function segmentsOf({ pools, segments }: StorageFixtureOptions): Readonly<Record<string, string>> {
  return segments ?? Object.fromEntries(Object.keys(pools).map((name) => [name, name]));
}

function poolsOf(pools: Readonly<Record<string, number>>): Record<string, bigint> {
  return Object.fromEntries(Object.entries(pools).map(([name, count]) => [name, BigInt(count) * gib]));
}

/** Inline volumes take the bytes of their node's pool; what does not fit is refused. */
function withInlineVolumes(driver: EnforcingDriver): EnforcingDriver {
  const [segment = ''] = driver.pools.keys();
  driver.beforeCall = (method, request) => {
    if (method !== 'NodePublishVolume') return;
    const { volumeId } = request as NodePublishVolumeRequest;
    const isNew = !driver.volumes.has(volumeId);
    if (isNew && inlineBytes(request) > driver.freeIn(segment))
      throw new CsiStatusError('ResourceExhausted', `${segment} is full`);
  };
  driver.afterCall = (method, request) => {
    const { volumeId } = request as NodePublishVolumeRequest;
    if (method === 'NodePublishVolume') driver.addVolume(volumeId, segment, inlineBytes(request));
    if (method === 'NodeUnpublishVolume') driver.volumes.delete(volumeId);
  };
  return driver;
}

function inlineBytes(request: unknown): bigint {
  const { publishContext } = request as NodePublishVolumeRequest;
  return bytesOf(publishContext[inlineSizeAttribute] || '0');
}
