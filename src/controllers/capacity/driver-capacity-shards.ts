import type { Projected, ResourceClient } from '../../cluster/cluster.ts';
import type { OwnerReference } from '../../kube/api/meta.ts';
import type { CSIDriver } from '../../kube/api/storage.ts';
import { isReason } from '../../kube/api-error.ts';
import { formatTimestamp, parseTimestamp } from '../../kube/go/timestamp.ts';
import { bytesOf, quantityOfBytes } from '../../kube/quantities/bytes.ts';
import { apiVersionOf } from '../../kube/resource.ts';
import { csiDrivers, driverCapacities } from '../../kube/resources.ts';
import {
  type DriverCapacity,
  ephemeralStorageClassName,
  type StoragePool,
} from '../../kube/stowage/driver-capacity.ts';
import { annotations } from '../../kube/well-known.ts';
import type { ControllerContext } from '../../reconcile/controller.ts';
import { Informer } from '../../reconcile/informer/informer.ts';
import type { BackgroundWork } from '../../runtime/supervisor.ts';
import { fieldManager, publisherLabels, shardName } from '../published-names.ts';
import { capacityReportOfKey } from './capacity-report-id.ts';
import type {
  CapacityReportDisks,
  CapacityReportProblem,
  CapacityReportStore,
  NewCapacityReport,
  PublishedCapacityReport,
} from './capacity-report-store.ts';
import { capacityReportKeysIn, contentOfPool, poolIn, publishedAmount, topologyOf } from './shard-pools.ts';
import { segmentKeyOf, segmentText } from './topology-segment.ts';

export interface DriverCapacityShardsOptions {
  readonly context: ControllerContext;
  readonly driver: string;
  /** The node of this publisher; undefined for one that publishes for all nodes. */
  readonly nodeName: string | undefined;
  /** The CSIDriver of the driver; undefined if there is none. */
  readonly csiDriver: () => CSIDriver | undefined;
  /** For how long a capacity report is valid after it was measured. */
  readonly lifetimeMs: number;
}

type Shard = Projected<DriverCapacity>;

/**
 * Capacity reports as pools of DriverCapacity objects: an object for each topology segment, with an entry for each class. So an update costs what
 * has changed. Each class is applied by its own field manager: writing one needs no knowledge of the others, and cannot remove them.
 */
export class DriverCapacityShards implements CapacityReportStore {
  readonly #options: DriverCapacityShardsOptions;
  readonly #labels: Readonly<Record<string, string>>;
  readonly #client: ResourceClient<DriverCapacity>;
  readonly #informer: Informer<DriverCapacity>;
  readonly #work: BackgroundWork;
  readonly #written = new Map<string, string>();
  /** The keys of the reports in each shard. */
  readonly #capacityReportsOf = new Map<string, ReadonlySet<string>>();

  constructor(options: DriverCapacityShardsOptions) {
    this.#options = options;
    const { context, driver, nodeName } = options;
    this.#labels = publisherLabels(driver, nodeName);
    this.#client = context.cluster.resource(driverCapacities);
    const labelSelector = Object.entries(this.#labels)
      .map(([key, value]) => `${key}=${value}`)
      .join(',');
    this.#informer = new Informer({
      cluster: context.cluster,
      resource: driverCapacities,
      selection: { labelSelector },
      clock: context.clock,
      random: context.random.fork('shards'),
    });
    this.#work = this.#informer.start(context.supervisor);
  }

  async close(): Promise<void> {
    await this.#work.stop();
  }

  synced(signal: AbortSignal): Promise<boolean> {
    return this.#informer.synced(signal);
  }

  listen(listener: (capacityReportKey: string) => void): () => void {
    const changed = (shard: Shard, isGone: boolean) => {
      const name = shard.metadata?.name ?? '';
      const [before, after] = [
        this.#capacityReportsOf.get(name) ?? new Set<string>(),
        isGone ? new Set<string>() : capacityReportKeysIn(shard),
      ];
      if (isGone) this.#capacityReportsOf.delete(name);
      else this.#capacityReportsOf.set(name, after);
      for (const capacityReportKey of new Set([...before, ...after])) {
        const pool = after.has(capacityReportKey) ? poolIn(shard, capacityReportKey) : undefined;
        if (pool === undefined || this.#written.get(capacityReportKey) !== contentOfPool(pool))
          listener(capacityReportKey);
      }
    };
    return this.#informer.addHandler({
      added: (shard) => changed(shard, false),
      updated: (shard) => changed(shard, false),
      deleted: (shard) => changed(shard, true),
    });
  }

  *keys(): Iterable<string> {
    for (const keys of this.#capacityReportsOf.values()) yield* keys;
  }

  published(capacityReportKey: string): PublishedCapacityReport | undefined {
    const shard = this.#shardOf(capacityReportKey);
    const pool = shard && poolIn(shard, capacityReportKey);
    if (shard === undefined || pool === undefined) return undefined;
    const largestBytes = pool.capacity === undefined ? undefined : bytesOf(pool.capacity);
    const smallestBytes = pool.minimumVolume === undefined ? undefined : bytesOf(pool.minimumVolume);
    return {
      freeBytes: largestBytes,
      largestBytes,
      measuredAtMs: parseTimestamp(pool.measuredAt),
      expiresAtMs: parseTimestamp(pool.expiryTime),
      drift: pool.drift,
      isComplete: (disks) =>
        this.#isShardComplete(shard, capacityReportKey) &&
        pool.name === this.#poolName(capacityReportKey, disks),
      hasAmount: (report) =>
        largestBytes === publishedAmount(report) && smallestBytes === report.smallestBytes,
    };
  }

  /** If the process dies between the two writes, the object has no pools, and the next run applies them. */
  async write(capacityReportKey: string, report: NewCapacityReport, signal: AbortSignal): Promise<void> {
    const shard = this.#shardOf(capacityReportKey);
    if (shard === undefined || !this.#isShardComplete(shard, capacityReportKey))
      await this.#writeShard(capacityReportKey, signal);
    const { storageClassName } = capacityReportOfKey(capacityReportKey);
    const pool = this.#poolFor(capacityReportKey, report);
    this.#written.set(capacityReportKey, contentOfPool(pool));
    const status = { storage: [{ storageClassName, pools: [pool] }] };
    await this.#applyStatus(capacityReportKey, status, fieldManager(storageClassName), signal);
  }

  /** The last class takes the object along. */
  async remove(capacityReportKey: string, signal: AbortSignal): Promise<void> {
    const shard = this.#shardOf(capacityReportKey);
    this.#written.delete(capacityReportKey);
    if (shard === undefined) return;
    const { storageClassName } = capacityReportOfKey(capacityReportKey);
    const others = [...capacityReportKeysIn(shard)].filter((key) => key !== capacityReportKey);
    if (others.length > 0) {
      await this.#applyStatus(capacityReportKey, {}, fieldManager(storageClassName), signal);
      return;
    }
    const { name = '', uid, resourceVersion } = shard.metadata ?? {};
    const preconditions = {
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    };
    try {
      await this.#client.delete({ name }, { preconditions, signal });
    } catch (error) {
      if (!isReason(error, 'NotFound')) throw error;
    }
  }

  /** The condition `Fresh`. Written only when it changes. */
  async setProblem(
    capacityReportKey: string,
    { inSegment: problem }: CapacityReportProblem,
    signal: AbortSignal,
  ): Promise<void> {
    const shard = this.#shardOf(capacityReportKey);
    if (shard === undefined) return;
    const fresh = shard.status?.conditions?.find(({ type }) => type === 'Fresh');
    const status = problem === undefined ? 'True' : 'False';
    if (fresh === undefined ? problem === undefined : fresh.status === status) return;
    const condition = {
      type: 'Fresh',
      status,
      reason: problem === undefined ? 'Published' : 'DriverDoesNotAnswer',
      message: (problem ?? '').slice(0, messageLengthMax),
      lastTransitionTime: formatTimestamp(this.#options.context.clock.nowMs()),
    };
    await this.#applyStatus(capacityReportKey, { conditions: [condition] }, conditionManager, signal);
  }

  #shardOf(capacityReportKey: string): Shard | undefined {
    return this.#informer.get(this.#nameOf(capacityReportKey));
  }

  #nameOf(capacityReportKey: string): string {
    const { driver, nodeName } = this.#options;
    return shardName(driver, nodeName, segmentKeyOf(capacityReportOfKey(capacityReportKey).segment));
  }

  async #writeShard(capacityReportKey: string, signal: AbortSignal): Promise<void> {
    const { driver, nodeName } = this.#options;
    const owner = this.#owner();
    const body = {
      apiVersion: apiVersionOf(driverCapacities),
      kind: driverCapacities.kind,
      metadata: {
        name: this.#nameOf(capacityReportKey),
        labels: this.#labels,
        annotations: {
          [annotations.segment]: segmentKeyOf(capacityReportOfKey(capacityReportKey).segment),
          ...(nodeName === undefined ? {} : { [annotations.publisherNode]: nodeName }),
        },
        ...(owner === undefined ? {} : { ownerReferences: [owner] }),
      },
      spec: { driver, capacityTracking: true },
    };
    const name = this.#nameOf(capacityReportKey);
    await this.#client.patch({ name }, { type: 'apply', body }, { signal, fieldManager: shardManager });
  }

  async #applyStatus(
    capacityReportKey: string,
    status: object,
    manager: string,
    signal: AbortSignal,
  ): Promise<void> {
    const name = this.#nameOf(capacityReportKey);
    const type = { apiVersion: apiVersionOf(driverCapacities), kind: driverCapacities.kind };
    // Without force: if another client has taken over the fields, that is reported as a conflict.
    await this.#client.patch(
      { name },
      { type: 'apply', body: { ...type, metadata: { name }, status } },
      { signal, subresource: 'status', fieldManager: manager },
    );
  }

  #poolFor(capacityReportKey: string, report: NewCapacityReport): StoragePool & { readonly name: string } {
    const { lifetimeMs } = this.#options;
    const { measuredAtMs, drift } = report;
    return {
      name: this.#poolName(capacityReportKey, report.disks),
      ...this.#nodesOf(capacityReportKey),
      capacity: quantityOfBytes(publishedAmount(report)),
      ...(report.smallestBytes === undefined ? {} : { minimumVolume: quantityOfBytes(report.smallestBytes) }),
      measuredAt: new Date(measuredAtMs).toISOString(),
      expiryTime: formatTimestamp(measuredAtMs + lifetimeMs),
      ...(drift === undefined ? {} : { drift }),
    };
  }

  /** Without a field, every node reaches the pool. */
  #nodesOf(capacityReportKey: string): Pick<StoragePool, 'nodeList' | 'nodeTopology'> {
    const { nodeName } = this.#options;
    const { storageClassName, segment } = capacityReportOfKey(capacityReportKey);
    if (nodeName !== undefined && storageClassName === ephemeralStorageClassName)
      return { nodeList: [nodeName] };
    return topologyOf(segment);
  }

  /** The same name under two classes means the same disks, so classes with other parameters have other names. */
  #poolName(capacityReportKey: string, { parameters }: CapacityReportDisks): string {
    const { nodeName } = this.#options;
    const name = nodeName ?? segmentText(capacityReportOfKey(capacityReportKey).segment);
    const suffix = parameters === '' ? '' : `#${parameters}`;
    return `${name.slice(0, poolNameLengthMax - suffix.length)}${suffix}`;
  }

  #isShardComplete({ metadata, spec }: Shard, capacityReportKey: string): boolean {
    const owner = this.#owner();
    const segmentKey = segmentKeyOf(capacityReportOfKey(capacityReportKey).segment);
    if (metadata?.annotations?.[annotations.segment] !== segmentKey) return false;
    const isOwned =
      owner === undefined || metadata?.ownerReferences?.some(({ uid }) => uid === owner.uid) === true;
    return isOwned && spec?.capacityTracking === true && spec.driver === this.#options.driver;
  }

  /** The objects go with the driver. */
  #owner(): OwnerReference | undefined {
    const { name, uid } = this.#options.csiDriver()?.metadata ?? {};
    if (name === undefined || uid === undefined) return undefined;
    return { apiVersion: apiVersionOf(csiDrivers), kind: csiDrivers.kind, name, uid };
  }
}

const shardManager = 'stowage-capacity';
const conditionManager = 'stowage-capacity-condition';
const poolNameLengthMax = 253;
const messageLengthMax = 1024;
