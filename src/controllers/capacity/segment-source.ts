import type { ServedCsiDriver } from '../../csi/served-driver.ts';
import type { Node } from '../../kube/api/core.ts';
import type { CSINode } from '../../kube/api/storage.ts';
import { csiNodes, nodes } from '../../kube/resources.ts';
import type { ControllerContext } from '../../reconcile/controller.ts';
import type { Informer } from '../../reconcile/informer/informer.ts';
import { exponentialBackoff } from '../../runtime/backoff.ts';
import { segmentGraceMs } from './capacity-report-publication.ts';
import type { CapacityReportQueue } from './capacity-report-queue.ts';
import type { DesiredCapacityReports } from './desired-capacity-reports.ts';
import { NodeSegments } from './node-segments.ts';
import { segmentKeyOf, segmentOfKey, segmentText } from './topology-segment.ts';

const retry = exponentialBackoff({ baseMs: 1000, maxMs: 60_000, factor: 2, jitter: 'equal' });

export interface SegmentSourceOptions {
  readonly context: ControllerContext;
  readonly driver: ServedCsiDriver;
  readonly desired: DesiredCapacityReports;
  readonly reports: CapacityReportQueue;
  readonly nodeName: string | undefined;
  readonly prefix: string | undefined;
  readonly timeoutMs: number;
}

/**
 * Where a driver's topology segments come from: for a publisher of all nodes from CSINodes and the labels of Nodes; for the publisher of one
 * node from NodeGetInfo of the driver on that node.
 */
export class SegmentSource {
  readonly #options: SegmentSourceOptions;
  readonly #segments: NodeSegments;
  readonly #caches: { readonly nodes: Informer<Node>; readonly csiNodes: Informer<CSINode> } | undefined;
  #ownKey: string | undefined;

  constructor(options: SegmentSourceOptions) {
    this.#options = options;
    const { context, driver, nodeName, prefix } = options;
    this.#segments = new NodeSegments(driver.name, prefix);
    const isFixed = nodeName !== undefined || !driver.hasTopology;
    this.#caches = isFixed
      ? undefined
      : { nodes: context.informers.of(nodes), csiNodes: context.informers.of(csiNodes) };
  }

  get caches(): readonly { synced(signal: AbortSignal): Promise<boolean> }[] {
    return this.#caches === undefined ? [] : Object.values(this.#caches);
  }

  /** The key of the segment of a node; undefined if it has none, or it is not the publisher's concern. */
  of(nodeName: string): string | undefined {
    if (this.#caches !== undefined) return this.#segments.of(nodeName);
    const isOurs = this.#options.nodeName === undefined || this.#options.nodeName === nodeName;
    return isOurs ? this.#ownKey : undefined;
  }

  /** The labels of a node, as far as they are known; undefined if it is not in the cluster. */
  labelsOf(nodeName: string): Readonly<Record<string, string>> | undefined {
    if (this.#caches !== undefined) return this.#caches.nodes.get(nodeName)?.metadata?.labels;
    const segmentKey = this.of(nodeName);
    return segmentKey === undefined ? undefined : segmentOfKey(segmentKey);
  }

  /** Asks the driver on which segment it runs, until it answers. False if `signal` aborted before. */
  async prepare(signal: AbortSignal): Promise<boolean> {
    const { driver, nodeName } = this.#options;
    if (this.#caches !== undefined) return true;
    const segment = nodeName === undefined || !driver.hasTopology ? {} : await this.#askNode(signal);
    if (segment === undefined) return false;
    this.#ownKey = segmentKeyOf(segment);
    return true;
  }

  listen(onFirst: () => void): readonly (() => void)[] {
    const { desired, reports } = this.#options;
    if (this.#caches === undefined) {
      desired.addSegment(this.#ownKey ?? '[]');
      reports.add(desired.keysIn(this.#ownKey ?? '[]'));
      return [];
    }
    const caches = this.#caches;
    const changed = ({ metadata }: Node | CSINode) => this.#changed(metadata?.name ?? '', onFirst);
    const handler = { added: changed, updated: changed, deleted: changed };
    return [caches.nodes.addHandler(handler), caches.csiNodes.addHandler(handler)];
  }

  #changed(nodeName: string, onFirst: () => void): void {
    const { desired, reports, context } = this.#options;
    const node = this.#caches?.nodes.get(nodeName);
    const { added, removed } = this.#segments.set(nodeName, node, this.#caches?.csiNodes.get(nodeName));
    if (added !== undefined) {
      const isFirst = !desired.hasSegments;
      desired.addSegment(added);
      reports.add(desired.keysIn(added));
      if (isFirst) onFirst();
    }
    if (removed === undefined) return;
    const keys = desired.keysIn(removed);
    desired.removeSegment(removed, context.clock.nowMs());
    for (const key of keys) reports.queue.addAfter(key, segmentGraceMs);
  }

  async #askNode(signal: AbortSignal) {
    const { context, driver, timeoutMs, prefix = '' } = this.#options;
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      try {
        const { accessibleTopology } = await driver.call('NodeGetInfo', {}, { signal, timeoutMs });
        const labels = Object.entries(accessibleTopology?.segments ?? {});
        const segment = Object.fromEntries(labels.filter(([key]) => key.startsWith(prefix)));
        context.log.info(`the driver's capacity reports are for ${segmentText(segment)}`, {
          driver: driver.name,
        });
        return segment;
      } catch (error) {
        if (signal.aborted) return undefined;
        context.log.warn('NodeGetInfo failed, so no capacity is published yet', {
          driver: driver.name,
          error,
        });
        await context.clock.sleep(retry.delayMs(attempt, context.random), signal);
      }
    }
    return undefined;
  }
}
