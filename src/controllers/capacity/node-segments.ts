import type { Node } from '../../kube/api/core.ts';
import type { CSINode } from '../../kube/api/storage.ts';
import { segmentKeyOf, type TopologySegment } from './topology-segment.ts';

/**
 * The topology segments of a driver: for each node, the values of the labels whose keys the driver registered in the CSINode. Equal segments
 * of several nodes count once. A node without one of the labels is left out until the label is there.
 */
export class NodeSegments {
  readonly #driver: string;
  readonly #prefix: string;
  readonly #keyOfNode = new Map<string, string>();
  readonly #nodesOf = new Map<string, number>();

  constructor(driver: string, prefix = '') {
    this.#driver = driver;
    this.#prefix = prefix;
  }

  /** The segment of the node. */
  of(nodeName: string): string | undefined {
    return this.#keyOfNode.get(nodeName);
  }

  /** Replaces what is known of a node. Returns segments that have appeared and gone with it. */
  set(
    nodeName: string,
    node: Node | undefined,
    csiNode: CSINode | undefined,
  ): { readonly added?: string; readonly removed?: string } {
    const segment = node && csiNode && this.#segmentOf(node, csiNode);
    const [before, after] = [this.#keyOfNode.get(nodeName), segment && segmentKeyOf(segment)];
    if (before === after) return {};
    if (after === undefined) this.#keyOfNode.delete(nodeName);
    else this.#keyOfNode.set(nodeName, after);
    const isNew = after !== undefined && this.#count(after, 1) === 1;
    const isGone = before !== undefined && this.#count(before, -1) === 0;
    return { ...(isNew ? { added: after } : {}), ...(isGone ? { removed: before } : {}) };
  }

  /** Undefined if the driver is not registered there, or a label is missing. */
  #segmentOf(node: Node, csiNode: CSINode): TopologySegment | undefined {
    const registered = csiNode.spec?.drivers?.find(({ name }) => name === this.#driver)?.topologyKeys;
    const isRegistered = csiNode.spec?.drivers?.some(({ name }) => name === this.#driver) === true;
    if (!isRegistered) return undefined;
    const keys = (registered ?? []).filter((key) => key.startsWith(this.#prefix));
    // If the prefix excludes all keys, a segment without labels would promise the capacity to every node.
    if (keys.length === 0 && (registered ?? []).length > 0) return undefined;
    const values = keys.map((key) => [key, node.metadata?.labels?.[key]] as const);
    return values.some(([, value]) => value === undefined)
      ? undefined
      : (Object.fromEntries(values) as TopologySegment);
  }

  #count(key: string, change: number): number {
    const count = (this.#nodesOf.get(key) ?? 0) + change;
    if (count === 0) this.#nodesOf.delete(key);
    else this.#nodesOf.set(key, count);
    return count;
  }
}
