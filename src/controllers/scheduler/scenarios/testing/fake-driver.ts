import { bytesOf, quantityOfBytes } from '../../../../kube/quantities/bytes.ts';
import { csiStorageCapacities } from '../../../../kube/resources.ts';
import { labels } from '../../../../kube/well-known.ts';
import type { Controller } from '../../../../reconcile/controller.ts';
import type { Clock } from '../../../../runtime/clock.ts';
import {
  type Provisioner,
  refusedOutcome,
  type VolumeCreateOutcome,
  type VolumePlan,
} from '../../../provisioner/provisioner.ts';
import { provisionerController } from '../../../provisioner/provisioner-controller.ts';
import { namespace, type SchedulerFixture } from '../../testing/scheduler-fixture.ts';
import { driverName, trackedClass } from './fixtures.ts';

export interface FakeDriverOptions {
  /** The capacity of each node. */
  readonly nodes: Readonly<Record<string, string>>;
  /** How long it takes to create a volume. */
  readonly createMs?: number;
  /** How often it publishes its free capacity. */
  readonly publishEveryMs?: number;
  /** The time between measuring and publishing. */
  readonly publishDelayMs?: number;
}

interface Volume {
  readonly node: string;
  readonly bytes: bigint;
}

/**
 * A CSI driver with local disks on each node. It accounts for its volumes, refuses those that do not fit, and publishes its free capacity
 * late: only periodically, never right after a change.
 */
export class FakeDriver {
  readonly #clock: Clock;
  readonly #options: Required<FakeDriverOptions>;
  readonly #volumes = new Map<string, Volume>();
  readonly #sizes = new Map<string, bigint>();
  readonly #published = new Map<string, string>();
  /** How many volumes it has refused. */
  refusals = 0;
  /** How many volumes it has created so far. */
  createdCount = 0;
  /** Refuses every volume, even if it fits. */
  isBroken = false;

  constructor(clock: Clock, options: FakeDriverOptions) {
    this.#clock = clock;
    this.#options = { createMs: 200, publishEveryMs: 30_000, publishDelayMs: 0, ...options };
  }

  /** How many volumes exist now. */
  get volumeCount(): number {
    return this.#volumes.size;
  }

  /** The provisioner that calls the driver, and the sidecar that publishes for it. */
  get controllers(): readonly Controller[] {
    return [provisionerController({ provisioners: [this.#provisioner] }), this.#publisher];
  }

  /** Creates the CSIDriver, its class, and the first published capacity of every node. */
  async register(fixture: SchedulerFixture): Promise<void> {
    await trackedClass(fixture);
    const client = fixture.cluster.resource(csiStorageCapacities);
    for (const node of Object.keys(this.#options.nodes))
      await client.create({
        metadata: { namespace, name: `capacity-${node}` },
        storageClassName: 'tracked',
        nodeTopology: { matchLabels: { [labels.hostname]: node } },
        capacity: this.#free(node),
      });
  }

  get #provisioner(): Provisioner {
    return {
      name: driverName,
      plan: ({ asset, claim, selectedNode }) => {
        const host = selectedNode?.metadata?.name ?? '';
        this.#sizes.set(asset.name, bytesOf(String(claim.spec?.resources?.requests?.storage ?? '')));
        const matchExpressions = [{ key: labels.hostname, operator: 'In' as const, values: [host] }];
        const nodeAffinity = { required: { nodeSelectorTerms: [{ matchExpressions }] } };
        const csi = { driver: driverName, volumeHandle: asset.name };
        return { kind: 'planned', plan: { asset, nodeAffinity, source: { csi } } };
      },
      create: (plan, signal) => this.#create(plan, signal),
      delete: async ({ name }) => {
        this.#volumes.delete(name);
      },
    };
  }

  async #create(plan: VolumePlan, signal: AbortSignal): Promise<VolumeCreateOutcome> {
    await this.#clock.sleep(this.#options.createMs, signal);
    const { name } = plan.asset;
    if (this.#volumes.has(name)) return { kind: 'created', volume: plan };
    const node =
      plan.nodeAffinity?.required?.nodeSelectorTerms?.[0]?.matchExpressions?.[0]?.values?.[0] ?? '';
    const bytes = this.#sizes.get(name) ?? 0n;
    if (this.isBroken || this.#freeBytes(node) < bytes) {
      this.refusals += 1;
      return refusedOutcome(`out of disks on ${node}`);
    }
    this.createdCount += 1;
    this.#volumes.set(name, { node, bytes });
    return { kind: 'created', volume: plan };
  }

  get #publisher(): Controller {
    return {
      name: 'publisher',
      run: async ({ cluster }, signal) => {
        const client = cluster.resource(csiStorageCapacities);
        while (!signal.aborted) {
          await this.#clock.sleep(this.#options.publishEveryMs, signal);
          const measured = Object.keys(this.#options.nodes).map((node) => [node, this.#free(node)] as const);
          await this.#clock.sleep(this.#options.publishDelayMs, signal);
          for (const [node, capacity] of measured) {
            if (signal.aborted) return;
            if (this.#published.get(node) === capacity) continue;
            this.#published.set(node, capacity);
            await client.patch(
              { namespace, name: `capacity-${node}` },
              { type: 'merge', body: { capacity } },
            );
          }
        }
      },
    };
  }

  #free(node: string): string {
    return quantityOfBytes(this.#freeBytes(node));
  }

  #freeBytes(node: string): bigint {
    let free = bytesOf(this.#options.nodes[node] ?? '0');
    for (const volume of this.#volumes.values()) if (volume.node === node) free -= volume.bytes;
    return free;
  }
}
