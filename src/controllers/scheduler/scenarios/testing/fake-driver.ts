import {
  formatQuantity,
  parseQuantity,
  quantityFromBytes,
  quantityToBytes,
} from '../../../../kube/quantities/quantity.ts';
import { csiStorageCapacities } from '../../../../kube/resources.ts';
import { labels } from '../../../../kube/well-known.ts';
import type { Controller } from '../../../../reconcile/controller.ts';
import { assert } from '../../../../runtime/assert.ts';
import type { Clock } from '../../../../runtime/clock.ts';
import {
  type Provisioner,
  refusedOutcome,
  type VolumeMakeOutcome,
  type VolumePlan,
} from '../../../provisioner/provisioner.ts';
import { provisionerController } from '../../../provisioner/provisioner-controller.ts';
import { namespace, type SchedulerFixture } from '../../testing/scheduler-fixture.ts';
import { driverName, trackedClass } from './fixtures.ts';

export interface FakeDriverOptions {
  /** What each node has. */
  readonly nodes: Readonly<Record<string, string>>;
  /** How long it takes to make a volume. */
  readonly makeMs?: number;
  /** How often it says what is left. */
  readonly publishEveryMs?: number;
  /** How long it takes from measuring to saying. */
  readonly staleMs?: number;
}

interface Volume {
  readonly node: string;
  readonly bytes: bigint;
}

/**
 * A driver with disks of its own on each node. It keeps its own books, refuses what doesn't fit them, and says what is left late:
 * only now and then, never right after a change.
 */
export class FakeDriver {
  readonly #clock: Clock;
  readonly #options: Required<FakeDriverOptions>;
  readonly #volumes = new Map<string, Volume>();
  readonly #sizes = new Map<string, bigint>();
  readonly #said = new Map<string, string>();
  /** How often it had to say no. */
  refusals = 0;
  /** How many volumes were made so far. */
  made = 0;
  /** Says no to everything, whatever its books say. */
  isBroken = false;

  constructor(clock: Clock, options: FakeDriverOptions) {
    this.#clock = clock;
    this.#options = { makeMs: 200, publishEveryMs: 30_000, staleMs: 0, ...options };
  }

  /** How many volumes there are now. */
  get volumeCount(): number {
    return this.#volumes.size;
  }

  /** What runs it: the provisioner that asks it, and the sidecar that publishes for it. */
  get controllers(): readonly Controller[] {
    return [provisionerController({ provisioners: [this.#provisioner] }), this.#publisher];
  }

  /** The driver's object and class, and its first word on every node. */
  async register(fixture: SchedulerFixture): Promise<void> {
    await trackedClass(fixture);
    const client = fixture.cluster.resource(csiStorageCapacities);
    for (const node of Object.keys(this.#options.nodes))
      await client.create({
        metadata: { namespace, name: `room-${node}` },
        storageClassName: 'tracked',
        nodeTopology: { matchLabels: { [labels.hostname]: node } },
        capacity: this.#left(node),
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
      make: (plan, signal) => this.#make(plan, signal),
      remove: async ({ name }) => {
        this.#volumes.delete(name);
      },
    };
  }

  async #make(plan: VolumePlan, signal: AbortSignal): Promise<VolumeMakeOutcome> {
    await this.#clock.sleep(this.#options.makeMs, signal);
    const { name } = plan.asset;
    if (this.#volumes.has(name)) return { kind: 'made', plan };
    const node = plan.nodeAffinity.required?.nodeSelectorTerms?.[0]?.matchExpressions?.[0]?.values?.[0] ?? '';
    const bytes = this.#sizes.get(name) ?? 0n;
    if (this.isBroken || this.#leftBytes(node) < bytes) {
      this.refusals += 1;
      return refusedOutcome(`out of disks on ${node}`);
    }
    this.made += 1;
    this.#volumes.set(name, { node, bytes });
    return { kind: 'made', plan };
  }

  get #publisher(): Controller {
    return {
      name: 'publisher',
      run: async ({ cluster }, signal) => {
        const client = cluster.resource(csiStorageCapacities);
        while (!signal.aborted) {
          await this.#clock.sleep(this.#options.publishEveryMs, signal);
          const measured = Object.keys(this.#options.nodes).map((node) => [node, this.#left(node)] as const);
          await this.#clock.sleep(this.#options.staleMs, signal);
          for (const [node, capacity] of measured) {
            if (signal.aborted) return;
            if (this.#said.get(node) === capacity) continue;
            this.#said.set(node, capacity);
            await client.patch({ namespace, name: `room-${node}` }, { type: 'merge', body: { capacity } });
          }
        }
      },
    };
  }

  #left(node: string): string {
    return formatQuantity(quantityFromBytes(this.#leftBytes(node), 'BinarySI'));
  }

  #leftBytes(node: string): bigint {
    let left = bytesOf(this.#options.nodes[node] ?? '0');
    for (const volume of this.#volumes.values()) if (volume.node === node) left -= volume.bytes;
    return left;
  }
}

function bytesOf(text: string): bigint {
  const reading = parseQuantity(text);
  assert(reading.ok, `${text} is no quantity`);
  return quantityToBytes(reading.quantity);
}
