import {
  type ProvisionedAsset,
  type Provisioner,
  type ProvisionRequest,
  refusedOutcome,
  type VolumeCreateOutcome,
  type VolumePlan,
} from '../controllers/provisioner/provisioner.ts';
import { CsiStatusError } from '../csi/csi-errors.ts';
import { parseQuantity, quantityToBytes } from '../kube/quantities/quantity.ts';
import { labels } from '../kube/well-known.ts';
import { assert } from '../runtime/assert.ts';
import type { Clock } from '../runtime/clock.ts';

export const driverName = 'driver.simulation.stowage.dev';
export const driverClassName = 'pooled';

export const gibibyte = 2 ** 30;
const createMs = 50;
const hangMs = 60_000;
const slowMs = 8_000;

/** What the driver does with the next request to create or expand a volume. */
export type DriverFault =
  /** Refuses: nothing changes. */
  | 'refuse'
  /** Fails before it has changed anything. */
  | 'fail'
  /** Does it, and loses the response. */
  | 'fail-after'
  /** Does not answer for a minute, then fails. */
  | 'hang'
  /** Changes nothing for a while, then does it and answers. */
  | 'slow';

export const driverFaults: readonly DriverFault[] = ['refuse', 'fail', 'fail-after', 'hang', 'slow'];

/** A capacity that the driver reported for a pool, and when. */
interface Measurement {
  readonly bytes: number;
  readonly atMs: number;
}

/** So many are known of each pool: a publisher may be late with one of the last. */
const measurementsMax = 20;

/** A volume in the pool of a node. */
interface DriverVolume {
  readonly node: string;
  readonly bytes: number;
  /** Its size before any expansion. */
  readonly createdBytes: number;
}

export interface DriverOptions {
  readonly clock: Clock;
  /** Whether a claim is bound to the volume of this name. */
  readonly isInUse: (volume: string) => boolean;
  /** Whether a pod runs on the node with the volume. */
  readonly isMounted: (volume: string, node: string) => boolean;
}

/**
 * A storage system with one pool a node, outside the cluster: it outlives every process. Its provisioner may fail, hang or answer
 * late; it never holds more than its capacity. `csiServicesOf` makes it a CSI driver, whose capacity is published.
 */
export class SimulatedDriver {
  readonly #options: DriverOptions;
  readonly #capacity = new Map<string, number>();
  /** The largest that was ever true or published. */
  readonly #limits = new Map<string, number>();
  readonly #volumes = new Map<string, DriverVolume>();
  readonly #deletedInUse: string[] = [];
  /** `VOLUME NODE` each. */
  readonly #attached = new Set<string>();
  readonly #detachedInUse: string[] = [];
  /** The results of `measure` by node. */
  readonly #measurements = new Map<string, Measurement[]>();
  readonly #faults: DriverFault[] = [];
  readonly #expansionFaults: DriverFault[] = [];
  #overstatedBytes = 0;

  constructor(options: DriverOptions) {
    this.#options = options;
  }

  get volumes(): ReadonlyMap<string, DriverVolume> {
    return this.#volumes;
  }

  get deletedInUse(): readonly string[] {
    return this.#deletedInUse;
  }

  get attached(): ReadonlySet<string> {
    return this.#attached;
  }

  get detachedInUse(): readonly string[] {
    return this.#detachedInUse;
  }

  limitBytes(node: string): number {
    return this.#limits.get(node) ?? 0;
  }

  setCapacity(node: string, bytes: number): void {
    this.#capacity.set(node, bytes);
    this.#limits.set(node, Math.max(this.limitBytes(node), bytes));
  }

  /** Measured capacities exceed the free bytes by this much, until `heal`. */
  overstate(bytes: number): void {
    this.#overstatedBytes = bytes;
  }

  /** What the driver says about the pool of a node. */
  measure(node: string): number {
    const bytes = this.freeBytes(node) + this.#overstatedBytes;
    this.#limits.set(node, Math.max(this.limitBytes(node), this.#usedBytes(node) + bytes));
    const known = this.#measurements.get(node) ?? [];
    this.#measurements.set(node, [
      ...known.slice(1 - measurementsMax),
      { bytes, atMs: this.#options.clock.nowMs() },
    ]);
    return bytes;
  }

  /** Whether the driver has said so at this time or later. */
  wasMeasured(node: string, bytes: number, sinceMs: number): boolean {
    const known = this.#measurements.get(node) ?? [];
    return known.some((measured) => measured.bytes === bytes && measured.atMs >= sinceMs);
  }

  attach(volume: string, node: string): void {
    this.#attached.add(`${volume} ${node}`);
  }

  detach(volume: string, node: string): void {
    const isAttached = this.#attached.delete(`${volume} ${node}`);
    if (isAttached && this.#options.isMounted(volume, node))
      this.#detachedInUse.push(`${volume} from ${node}`);
  }

  failNext(fault: DriverFault): void {
    this.#faults.push(fault);
  }

  /** Other requests do not use up this one. */
  failNextExpansion(fault: DriverFault): void {
    this.#expansionFaults.push(fault);
  }

  heal(): void {
    this.#faults.length = 0;
    this.#expansionFaults.length = 0;
    this.#overstatedBytes = 0;
  }

  get provisioner(): Provisioner {
    return {
      name: driverName,
      plan: planOn,
      create: (plan, signal) => this.#create(plan, signal),
      delete: (asset) => this.#delete(asset),
    };
  }

  async #create(plan: VolumePlan, signal: AbortSignal): Promise<VolumeCreateOutcome> {
    const { clock } = this.#options;
    const fault = this.#faults.shift();
    await clock.sleep(createMs, signal);
    if (fault === 'refuse') return refusedOutcome('the driver refuses (simulated)');
    if (fault === 'fail') throw new Error('the driver failed (simulated)');
    if (fault === 'hang' || fault === 'slow') await clock.sleep(fault === 'hang' ? hangMs : slowMs, signal);
    if (fault === 'hang') throw new Error('the driver did not answer (simulated)');
    signal.throwIfAborted();
    const { name } = plan.asset;
    const { node = '', bytes = '0' } = plan.source.csi?.volumeAttributes ?? {};
    const existing = this.#volumes.get(name);
    if (existing === undefined && this.freeBytes(node) < Number(bytes))
      return refusedOutcome(`the pool of ${node} has no room for ${bytes} bytes`);
    const volume = existing ?? { node, bytes: Number(bytes), createdBytes: Number(bytes) };
    this.#volumes.set(name, volume);
    if (fault === 'fail-after') throw new Error('the response of the driver was lost (simulated)');
    // A volume that exists stays where it is, whatever this request asks for.
    return { kind: 'created', volume: planFor(plan.asset, volume) };
  }

  /**
   * Expands a volume to so many bytes, and returns its size. It refuses an expansion for lack of capacity as infeasible, as drivers do whose
   * volumes cannot leave their segment.
   */
  async expand(name: string, bytes: number, signal: AbortSignal): Promise<number> {
    const { clock } = this.#options;
    const fault = this.#expansionFaults.shift() ?? this.#faults.shift();
    await clock.sleep(createMs, signal);
    if (fault === 'refuse' || fault === 'fail')
      throw new CsiStatusError('Internal', 'the driver failed (simulated)');
    if (fault === 'hang' || fault === 'slow') await clock.sleep(fault === 'hang' ? hangMs : slowMs, signal);
    if (fault === 'hang')
      throw new CsiStatusError('DeadlineExceeded', 'the driver did not answer (simulated)');
    signal.throwIfAborted();
    const volume = this.#volumes.get(name);
    if (volume === undefined) throw new CsiStatusError('NotFound', `no volume ${name} (simulated)`);
    if (bytes - volume.bytes > this.freeBytes(volume.node))
      throw new CsiStatusError('OutOfRange', `the pool of ${volume.node} is full (simulated)`);
    const size = Math.max(volume.bytes, bytes);
    this.#volumes.set(name, { ...volume, bytes: size });
    if (fault === 'fail-after')
      throw new CsiStatusError('Unavailable', 'the response of the driver was lost (simulated)');
    return size;
  }

  async #delete({ name }: ProvisionedAsset): Promise<void> {
    if (!this.#volumes.has(name)) return;
    if (this.#options.isInUse(name)) this.#deletedInUse.push(name);
    this.#volumes.delete(name);
  }

  freeBytes(node: string): number {
    return Math.max(0, (this.#capacity.get(node) ?? 0) - this.#usedBytes(node));
  }

  #usedBytes(node: string): number {
    let used = 0;
    for (const volume of this.#volumes.values()) if (volume.node === node) used += volume.bytes;
    return used;
  }
}

function planOn({ asset, claim, selectedNode }: ProvisionRequest) {
  const node = selectedNode?.metadata?.name;
  if (node === undefined) return refusedOutcome('the driver needs a selected node');
  const bytes = sizeOf(String(claim.spec?.resources?.requests?.storage ?? '0'));
  return { kind: 'planned' as const, plan: planFor(asset, { node, bytes }) };
}

function planFor(asset: ProvisionedAsset, { node, bytes }: Pick<DriverVolume, 'node' | 'bytes'>): VolumePlan {
  const matchExpressions = [{ key: labels.hostname, operator: 'In' as const, values: [node] }];
  const nodeAffinity = { required: { nodeSelectorTerms: [{ matchExpressions }] } };
  const volumeAttributes = { node, bytes: String(bytes) };
  const csi = { driver: driverName, volumeHandle: asset.name, volumeAttributes };
  return { asset, nodeAffinity, source: { csi } };
}

/** The bytes of a quantity; those of the simulation are far below 2^53. */
export function sizeOf(text: string): number {
  const reading = parseQuantity(text);
  assert(reading.ok, `${text} is not a quantity`);
  return Number(quantityToBytes(reading.quantity));
}
