import type { ResourceClient } from '../../../cluster/cluster.ts';
import type { CsiDriverSet, ServedCsiDriver } from '../../../csi/served-driver.ts';
import type { PersistentVolumeClaim } from '../../../kube/api/core.ts';
import type { StorageClass } from '../../../kube/api/storage.ts';
import { bytesOf } from '../../../kube/quantities/bytes.ts';
import { persistentVolumeClaims, storageClasses } from '../../../kube/resources.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import { claimClassName, isDelayedBinding } from '../../../kube/volumes.ts';
import { annotations } from '../../../kube/well-known.ts';
import type { ControllerContext } from '../../../reconcile/controller.ts';
import type { Requeue } from '../../../reconcile/workers.ts';
import { needsVolume, provisionerOf, selectedNodeName } from '../claim-demand.ts';
import type { ProvisioningIntent } from '../intent.ts';
import type { CsiCaches } from './csi-caches.ts';
import { csiSegmentOf, topologyKeysOf } from './topology-segments.ts';

/** As in external-provisioner: `--node-deployment-base-delay` and `-max-delay`. */
const baseDelayMs = 20_000;
const maxDelayMs = 60_000;

export interface NodeScopeOptions {
  readonly nodeName: string;
  readonly context: ControllerContext;
  readonly drivers: CsiDriverSet;
  readonly caches: CsiCaches;
  readonly timeoutMs: number;
}

/**
 * One process for each node, each with the driver of its own node: which claims are this node's.
 *
 * No leader decides. A claim with a selected node belongs to that node's process. One that binds immediately has no node: each process
 * waits for a random time, asks its driver for capacity, and selects its own node in the version of the claim that it read, so one wins.
 */
export class NodeScope {
  readonly #options: NodeScopeOptions;
  readonly #claims: ResourceClient<PersistentVolumeClaim>;
  /** When to try next, and the number of attempts so far. Key: the uid of the claim. */
  readonly #attempts = new Map<string, { readonly dueMs: number; readonly count: number }>();

  constructor(options: NodeScopeOptions) {
    this.#options = options;
    this.#claims = options.context.cluster.resource(persistentVolumeClaims);
  }

  /** Whether the claim belongs to this node. */
  includes(claim: PersistentVolumeClaim, intent: ProvisioningIntent | undefined): boolean {
    return (intent?.node ?? selectedNodeName(claim)) === this.#options.nodeName;
  }

  /** Selects this node for a claim that binds immediately and has none yet, if the driver has capacity here. */
  async compete(
    claim: PersistentVolumeClaim,
    intent: ProvisioningIntent | undefined,
    signal: AbortSignal,
  ): Promise<Requeue | undefined> {
    const driver = this.#options.drivers.get(provisionerOf(claim));
    if (intent !== undefined || selectedNodeName(claim) !== '' || !needsVolume(claim)) return undefined;
    if (driver === undefined) return undefined;
    const classes = this.#options.context.cluster.resource(storageClasses);
    const storageClass = await undefinedIfNotFound(classes.get({ name: claimClassName(claim) }, { signal }));
    if (storageClass?.provisioner !== driver.name || isDelayedBinding(storageClass)) return undefined;
    const waitMs = this.#waitMs(claim.metadata?.uid ?? '');
    if (waitMs > 0) return { afterMs: waitMs };
    if (!(await this.#hasCapacity(driver, claim, storageClass, signal))) return { afterMs: maxDelayMs };
    await this.#select(claim, signal);
    return undefined;
  }

  /** 0 when this process may try. After a failure, another node shall be first: the delay grows. */
  #waitMs(uid: string): number {
    const { clock, random } = this.#options.context;
    const nowMs = clock.monotonicMs();
    const { dueMs, count } = this.#attempts.get(uid) ?? { dueMs: Number.NaN, count: 0 };
    if (dueMs <= nowMs) {
      this.#attempts.set(uid, { dueMs: Number.NaN, count: count + 1 });
      return 0;
    }
    if (dueMs > nowMs) return dueMs - nowMs;
    const waitMs = 1 + random.int(Math.min(maxDelayMs, baseDelayMs * 2 ** count));
    this.#attempts.set(uid, { dueMs: nowMs + waitMs, count });
    return waitMs;
  }

  async #hasCapacity(
    driver: ServedCsiDriver,
    { spec }: PersistentVolumeClaim,
    { parameters = {} }: StorageClass,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (!driver.hasControllerCapability('GET_CAPACITY')) return true;
    const { nodeName, caches, timeoutMs } = this.#options;
    const keys = topologyKeysOf(caches.csiNode(nodeName), driver.name) ?? [];
    const segment = driver.hasTopology ? csiSegmentOf(caches.node(nodeName), keys) : undefined;
    const accessibleTopology = segment && { accessibleTopology: { segments: { ...segment } } };
    const request = { parameters: { ...parameters }, ...accessibleTopology };
    const { availableCapacity } = await driver.call('GetCapacity', request, { signal, timeoutMs });
    return availableCapacity >= bytesOf(spec?.resources?.requests?.storage);
  }

  /** The version makes sure that only one node is selected: the others get `Conflict`. */
  async #select({ metadata }: PersistentVolumeClaim, signal: AbortSignal): Promise<void> {
    const { uid, resourceVersion, namespace, name = '' } = metadata ?? {};
    const selected = { [annotations.selectedNode]: this.#options.nodeName };
    const body = { metadata: { uid, resourceVersion, annotations: selected } };
    await this.#claims.patch({ namespace, name }, { type: 'merge', body }, { signal });
  }
}
