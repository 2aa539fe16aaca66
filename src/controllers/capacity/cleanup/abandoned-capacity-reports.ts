import type { CSIStorageCapacity } from '../../../kube/api/storage.ts';
import { isReason } from '../../../kube/api-error.ts';
import { capacityReportsTrustedUntilMs } from '../../../kube/publisher-heartbeat.ts';
import { csiDrivers, csiStorageCapacities } from '../../../kube/resources.ts';
import { annotations, labels } from '../../../kube/well-known.ts';
import type { ControllerContext } from '../../../reconcile/controller.ts';
import { publisherLeaseInformer } from '../../../state/publisher-leases.ts';
import { isManagedByStowage } from '../../published-names.ts';

const searchEveryMs = 600_000;
/** The CSIDriver and the publisher must both have been gone for this long: an upgrade deletes and recreates them. */
const goneMs = 300_000;

/**
 * Deletes CSIStorageCapacity objects of our publishers, of any driver, whose CSIDriver is deleted and whose publisher no longer renews its Lease: the
 * driver was uninstalled, and no publisher is left that would remove them. Objects of other publishers have no label of ours, and objects without a
 * Lease have a publisher about which nothing is known: neither is touched.
 *
 * Each deletion carries uid and version: an object that its publisher has written meanwhile stays. Nothing else is written, so a process that dies after
 * any deletion leaves the rest to the next one.
 */
export class AbandonedCapacityReports {
  readonly #context: ControllerContext;
  /** Objects that were abandoned, by uid, and since when, in monotonic time. */
  readonly #abandonedSinceMs = new Map<string, number>();

  constructor(context: ControllerContext) {
    this.#context = context;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, random, informers, log } = this.#context;
    const caches = [informers.of(csiDrivers), publisherLeaseInformer(informers)];
    await Promise.all(caches.map((cache) => cache.synced(signal)));
    while (!signal.aborted) {
      const isPending = this.#abandonedSinceMs.size > 0;
      await clock.sleep(isPending ? goneMs : searchEveryMs * (0.5 + random.next()), signal);
      if (signal.aborted) return;
      try {
        await this.#search(signal);
      } catch (error) {
        if (!signal.aborted) log.warn('the search for capacity of uninstalled drivers failed', { error });
      }
    }
  }

  async #search(signal: AbortSignal): Promise<void> {
    const { cluster, clock, log } = this.#context;
    const client = cluster.resource(csiStorageCapacities);
    const { items } = await client.list({ labelSelector: labels.managedBy, signal });
    const abandoned = new Map(
      items
        .filter((object) => this.#isAbandoned(object))
        .map((object) => [object.metadata?.uid ?? '', object] as const),
    );
    for (const uid of this.#abandonedSinceMs.keys())
      if (!abandoned.has(uid)) this.#abandonedSinceMs.delete(uid);
    for (const [uid, object] of abandoned) {
      const sinceMs = this.#abandonedSinceMs.get(uid) ?? clock.monotonicMs();
      this.#abandonedSinceMs.set(uid, sinceMs);
      if (clock.monotonicMs() - sinceMs < goneMs) continue;
      await this.#delete(object, signal);
      this.#abandonedSinceMs.delete(uid);
      log.info('removed the capacity of an uninstalled driver', {
        driver: object.metadata?.labels?.[labels.driverName],
        object: object.metadata?.name,
      });
    }
  }

  #isAbandoned({ metadata }: CSIStorageCapacity): boolean {
    const { informers, clock } = this.#context;
    const driver = metadata?.labels?.[labels.driverName] ?? '';
    const leaseKey = metadata?.annotations?.[annotations.publisherLease];
    if (!isManagedByStowage(metadata?.labels?.[labels.managedBy]) || driver === '') return false;
    if (leaseKey === undefined || informers.of(csiDrivers).get(driver) !== undefined) return false;
    // A publisher that runs recreates a deleted Lease within minutes.
    const lease = publisherLeaseInformer(informers).get(leaseKey);
    return lease === undefined || (capacityReportsTrustedUntilMs(lease) ?? Infinity) <= clock.nowMs();
  }

  async #delete({ metadata }: CSIStorageCapacity, signal: AbortSignal): Promise<void> {
    const { namespace, name = '', uid = '', resourceVersion = '' } = metadata ?? {};
    try {
      await this.#context.cluster
        .resource(csiStorageCapacities)
        .delete({ namespace, name }, { preconditions: { uid, resourceVersion }, signal });
    } catch (error) {
      // Another process was faster, or the publisher is back and writes.
      if (!isReason(error, 'NotFound') && !isReason(error, 'Conflict')) throw error;
    }
  }
}
