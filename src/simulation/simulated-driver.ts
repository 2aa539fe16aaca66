import {
  type ProvisionedAsset,
  type Provisioner,
  type ProvisionRequest,
  refusedOutcome,
  type VolumeCreateOutcome,
  type VolumePlan,
} from '../controllers/provisioner/provisioner.ts';
import { isReason } from '../kube/api-error.ts';
import { parseTimestamp } from '../kube/go/timestamp.ts';
import { parseQuantity, quantityToBytes } from '../kube/quantities/quantity.ts';
import { csiStorageCapacities } from '../kube/resources.ts';
import { annotations, labels } from '../kube/well-known.ts';
import type { Controller, ControllerContext } from '../reconcile/controller.ts';
import { assert } from '../runtime/assert.ts';
import type { Clock } from '../runtime/clock.ts';

export const driverName = 'driver.simulation.stowage.dev';
export const driverClassName = 'pooled';
/** The name of the controller that publishes the driver's capacity. */
export const driverPublisherName = 'driver-capacity';

export const gibibyte = 2 ** 30;
const namespace = 'kube-system';
const publishEveryMs = 10_000;
const createMs = 50;
const remeasureAfterMs = 3_000;

/** What the driver does with the next request to create a volume. */
export type DriverFault =
  /** Refuses: nothing is made. */
  | 'refuse'
  /** Fails before it has made anything. */
  | 'fail'
  /** Makes the volume, and loses the response. */
  | 'fail-after'
  /** Does not answer for a minute, then fails. */
  | 'hang'
  /** Makes nothing for a while, then makes the volume and answers. */
  | 'slow';

export const driverFaults: readonly DriverFault[] = ['refuse', 'fail', 'fail-after', 'hang', 'slow'];

/** A volume in the pool of a node. */
interface DriverVolume {
  readonly node: string;
  readonly bytes: number;
}

export interface DriverOptions {
  readonly clock: Clock;
  /** Whether a claim is bound to the volume of this name. */
  readonly isInUse: (volume: string) => boolean;
}

/**
 * A storage system with one pool a node, outside the cluster: it outlives every process. Its provisioner may fail, hang or answer
 * late; it never holds more than its capacity. Its publisher writes what is free as CSIStorageCapacity.
 */
export class SimulatedDriver {
  readonly #options: DriverOptions;
  readonly #capacity = new Map<string, number>();
  /** The largest that was ever true or published. */
  readonly #limits = new Map<string, number>();
  readonly #volumes = new Map<string, DriverVolume>();
  readonly #deletedInUse: string[] = [];
  readonly #faults: DriverFault[] = [];
  #overstatedBytes = 0;
  #changedAtMs = 0;
  #wakePublisher = () => {};

  constructor(options: DriverOptions) {
    this.#options = options;
  }

  get volumes(): ReadonlyMap<string, DriverVolume> {
    return this.#volumes;
  }

  get deletedInUse(): readonly string[] {
    return this.#deletedInUse;
  }

  limitBytes(node: string): number {
    return this.#limits.get(node) ?? 0;
  }

  setCapacity(node: string, bytes: number): void {
    this.#capacity.set(node, bytes);
    this.#limits.set(node, Math.max(this.limitBytes(node), bytes));
    this.#wakePublisher();
  }

  /** The published figures are larger than what is free, by so much, until `heal`. */
  overstate(bytes: number): void {
    this.#overstatedBytes = bytes;
    this.#wakePublisher();
  }

  failNext(fault: DriverFault): void {
    this.#faults.push(fault);
  }

  heal(): void {
    this.#faults.length = 0;
    this.#overstatedBytes = 0;
    this.#wakePublisher();
  }

  get provisioner(): Provisioner {
    return {
      name: driverName,
      plan: planOn,
      create: (plan, signal) => this.#create(plan, signal),
      delete: (asset) => this.#delete(asset),
    };
  }

  get publisher(): Controller {
    return { name: driverPublisherName, run: (context, signal) => this.#publish(context, signal) };
  }

  async #create(plan: VolumePlan, signal: AbortSignal): Promise<VolumeCreateOutcome> {
    const { clock } = this.#options;
    const fault = this.#faults.shift();
    await clock.sleep(createMs, signal);
    if (fault === 'refuse') return refusedOutcome('the driver refuses (simulated)');
    if (fault === 'fail') throw new Error('the driver failed (simulated)');
    if (fault === 'hang' || fault === 'slow') await clock.sleep(fault === 'hang' ? 60_000 : 8_000, signal);
    if (fault === 'hang') throw new Error('the driver did not answer (simulated)');
    signal.throwIfAborted();
    const { name } = plan.asset;
    const { node = '', bytes = '0' } = plan.source.csi?.volumeAttributes ?? {};
    const existing = this.#volumes.get(name);
    if (existing === undefined && this.#freeBytes(node) < Number(bytes))
      return refusedOutcome(`the pool of ${node} has no room for ${bytes} bytes`);
    const volume = existing ?? { node, bytes: Number(bytes) };
    this.#volumes.set(name, volume);
    this.#changed();
    if (fault === 'fail-after') throw new Error('the response of the driver was lost (simulated)');
    // A volume that exists stays where it is, whatever this request asks for.
    return { kind: 'created', volume: planFor(plan.asset, volume) };
  }

  async #delete({ name }: ProvisionedAsset): Promise<void> {
    if (!this.#volumes.has(name)) return;
    if (this.#options.isInUse(name)) this.#deletedInUse.push(name);
    this.#volumes.delete(name);
    this.#changed();
  }

  #changed(): void {
    this.#changedAtMs = this.#options.clock.nowMs();
    this.#wakePublisher();
  }

  #freeBytes(node: string): number {
    return Math.max(0, (this.#capacity.get(node) ?? 0) - this.#usedBytes(node));
  }

  #usedBytes(node: string): number {
    let used = 0;
    for (const volume of this.#volumes.values()) if (volume.node === node) used += volume.bytes;
    return used;
  }

  async #publish(context: ControllerContext, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const waiting = new AbortController();
      this.#wakePublisher = () => waiting.abort();
      for (const node of this.#capacity.keys()) await this.#publishNode(node, context, signal);
      await context.clock.sleep(publishEveryMs, AbortSignal.any([signal, waiting.signal]));
    }
  }

  /**
   * Writes a figure if it differs, and again some seconds after the last change of the pool: a figure ends a promise only if it was
   * measured after the volume existed, and creation times of objects have whole seconds. The patch carries the version that was read.
   */
  async #publishNode(node: string, { cluster }: ControllerContext, signal: AbortSignal): Promise<void> {
    const client = cluster.resource(csiStorageCapacities);
    const name = `pool-${node}`;
    const figure = this.#freeBytes(node) + this.#overstatedBytes;
    this.#limits.set(node, Math.max(this.limitBytes(node), this.#usedBytes(node) + figure));
    const capacity = String(figure);
    const measuredAtMs = this.#options.clock.nowMs();
    const measured = { [annotations.measuredAt]: new Date(measuredAtMs).toISOString() };
    try {
      const { metadata, capacity: published } = await client.get({ namespace, name }, { signal });
      const publishedMs = parseTimestamp(metadata?.annotations?.[annotations.measuredAt]) ?? 0;
      const isCurrent = publishedMs > this.#changedAtMs + remeasureAfterMs;
      const isDue = measuredAtMs > this.#changedAtMs + remeasureAfterMs;
      if (String(published) === capacity && (isCurrent || !isDue)) return;
      const { uid, resourceVersion } = metadata ?? {};
      const body = { metadata: { uid, resourceVersion, annotations: measured }, capacity };
      await client.patch({ namespace, name }, { type: 'merge', body }, { signal });
    } catch (error) {
      if (!isReason(error, 'NotFound')) throw error;
      const nodeTopology = { matchLabels: { [labels.hostname]: node } };
      const fresh = {
        metadata: { namespace, name, annotations: measured },
        storageClassName: driverClassName,
      };
      await client.create({ ...fresh, nodeTopology, capacity }, { signal });
    }
  }
}

function planOn({ asset, claim, selectedNode }: ProvisionRequest) {
  const node = selectedNode?.metadata?.name;
  if (node === undefined) return refusedOutcome('the driver needs a selected node');
  const bytes = sizeOf(String(claim.spec?.resources?.requests?.storage ?? '0'));
  return { kind: 'planned' as const, plan: planFor(asset, { node, bytes }) };
}

function planFor(asset: ProvisionedAsset, { node, bytes }: DriverVolume): VolumePlan {
  const matchExpressions = [{ key: labels.hostname, operator: 'In' as const, values: [node] }];
  const nodeAffinity = { required: { nodeSelectorTerms: [{ matchExpressions }] } };
  const volumeAttributes = { node, bytes: String(bytes) };
  const csi = { driver: driverName, volumeHandle: asset.name, volumeAttributes };
  return { asset, nodeAffinity, source: { csi } };
}

/** The bytes of a quantity; those of the simulation are far below 2^53. */
export function sizeOf(text: string): number {
  const reading = parseQuantity(text);
  assert(reading.ok, `${text} is no quantity`);
  return Number(quantityToBytes(reading.quantity));
}
