import type { KubeObject } from '../../../kube/api/meta.ts';
import { isReason } from '../../../kube/api-error.ts';
import type { Resource } from '../../../kube/resource.ts';
import { csiNodes, csiStorageCapacities, driverCapacities, nodes } from '../../../kube/resources.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import { annotations, labels } from '../../../kube/well-known.ts';
import type { ControllerContext } from '../../../reconcile/controller.ts';
import { isManagedByStowage } from '../../published-names.ts';

export interface OrphanedCapacityReportsOptions {
  readonly context: Pick<ControllerContext, 'cluster' | 'clock' | 'random' | 'log'>;
  readonly driver: string;
  readonly namespace: string;
}

/** How often one of all publishers of a driver looks for orphans, on average. */
const searchEveryMs = 600_000;
/** A Node and its CSINode must have been gone for this long. A node that is replaced comes back under its name. */
const goneMs = 300_000;

/**
 * Removes the objects of publishers whose nodes do not exist any more. A publisher that is responsible for one node cannot do that itself: it
 * went with its node. Any publisher of the driver removes them. Each one waits longer the more of them there are, so that all together search at
 * the same rate, however many nodes there are.
 */
export class OrphanedCapacityReports {
  readonly #options: OrphanedCapacityReportsOptions;
  /** Nodes that were missing, and since when. */
  readonly #missingSinceMs = new Map<string, number>();
  #publishers = 1;

  constructor(options: OrphanedCapacityReportsOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, random, log } = this.#options.context;
    while (!signal.aborted) {
      const isPending = this.#missingSinceMs.size > 0;
      const waitMs = isPending ? goneMs : searchEveryMs * this.#publishers * (0.5 + random.next());
      await clock.sleep(waitMs, signal);
      if (signal.aborted) return;
      try {
        await this.search(signal);
      } catch (error) {
        if (!signal.aborted) log.warn('the search for capacity of deleted nodes failed', { error });
      }
    }
  }

  /** One search; deletes what has been orphaned for long enough. */
  async search(signal: AbortSignal): Promise<void> {
    const { namespace } = this.#options;
    const found = [
      ...(await this.#objectsOf(csiStorageCapacities, { namespace }, signal)),
      ...(await this.#objectsOf(driverCapacities, {}, signal)),
    ];
    const byNode = new Map<string, Orphan[]>();
    for (const orphan of found) byNode.set(orphan.nodeName, [...(byNode.get(orphan.nodeName) ?? []), orphan]);
    this.#publishers = Math.max(1, byNode.size);
    for (const known of this.#missingSinceMs.keys())
      if (!byNode.has(known)) this.#missingSinceMs.delete(known);
    for (const [nodeName, orphans] of byNode) await this.#checkNode(nodeName, orphans, signal);
  }

  async #checkNode(nodeName: string, orphans: readonly Orphan[], signal: AbortSignal): Promise<void> {
    const { cluster, clock, log } = this.#options.context;
    const node = await undefinedIfNotFound(cluster.resource(nodes).get({ name: nodeName }, { signal }));
    // A list with a field selector needs only the permission that the informer has; a get would need another one.
    const named = { fieldSelector: `metadata.name=${nodeName}`, signal };
    if (node !== undefined || (await cluster.resource(csiNodes).list(named)).items.length > 0) {
      this.#missingSinceMs.delete(nodeName);
      return;
    }
    const sinceMs = this.#missingSinceMs.get(nodeName) ?? clock.monotonicMs();
    this.#missingSinceMs.set(nodeName, sinceMs);
    if (clock.monotonicMs() - sinceMs < goneMs) return;
    for (const { resource, object } of orphans) await this.#delete(resource, object, signal);
    log.info(`removed the capacity of the deleted node ${nodeName}`, { objects: orphans.length });
    this.#missingSinceMs.delete(nodeName);
  }

  async #objectsOf<T extends KubeObject>(
    resource: Resource<T>,
    where: { readonly namespace?: string },
    signal: AbortSignal,
  ): Promise<readonly Orphan[]> {
    const { context, driver } = this.#options;
    const labelSelector = `${labels.driverName}=${driver}`;
    // A cluster may not serve DriverCapacity.
    const list = context.cluster.resource(resource).list({ ...where, labelSelector, signal });
    const page = await undefinedIfNotFound(list);
    return (page?.items ?? []).flatMap((object) => {
      const nodeName = object.metadata?.annotations?.[annotations.publisherNode];
      const isOurs = isManagedByStowage(object.metadata?.labels?.[labels.managedBy]);
      return isOurs && nodeName !== undefined ? [{ resource: resource as Resource, object, nodeName }] : [];
    });
  }

  async #delete(resource: Resource, { metadata }: KubeObject, signal: AbortSignal): Promise<void> {
    const { name = '', namespace, uid, resourceVersion } = metadata ?? {};
    const preconditions = {
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    };
    try {
      await this.#options.context.cluster
        .resource(resource)
        .delete({ namespace, name }, { preconditions, signal });
    } catch (error) {
      // Another publisher was faster, or the node is back and its publisher writes.
      if (!isReason(error, 'NotFound') && !isReason(error, 'Conflict')) throw error;
    }
  }
}

interface Orphan {
  readonly resource: Resource;
  readonly object: KubeObject;
  readonly nodeName: string;
}
