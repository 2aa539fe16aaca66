import type { Taint } from '../../../kube/api/core.ts';
import { textOf } from '../../../kube/wire.ts';
import { NodeSet } from './node-set.ts';

/** A complete list of taints, and the nodes that have exactly this list. */
export interface TaintList {
  readonly taints: readonly Taint[];
  readonly nodes: NodeSet;
}

/**
 * Nodes by their taints. Whatever its size, a cluster has few different lists of taints. So a plan checks tolerations once per list,
 * and nodes without taints cost nothing.
 */
export class TaintTable {
  readonly #byKey = new Map<string, TaintList>();
  readonly #keyOfRow = new Map<number, string>();

  /** Every list in use, except the empty one. */
  lists(): Iterable<TaintList> {
    return this.#byKey.values();
  }

  get isEmpty(): boolean {
    return this.#byKey.size === 0;
  }

  /** Pass no taints for a deleted node. */
  set(row: number, taints: readonly Taint[]): void {
    const before = this.#keyOfRow.get(row);
    const after = taints.length === 0 ? undefined : taintsKey(taints);
    if (before === after) return;
    if (before !== undefined) this.#leave(row, before);
    if (after !== undefined) this.#join(row, after, taints);
  }

  #join(row: number, key: string, taints: readonly Taint[]): void {
    let list = this.#byKey.get(key);
    if (list === undefined) {
      list = { taints, nodes: new NodeSet() };
      this.#byKey.set(key, list);
    }
    list.nodes.add(row);
    this.#keyOfRow.set(row, key);
  }

  #leave(row: number, key: string): void {
    const { nodes } = this.#byKey.get(key)!;
    nodes.delete(row);
    if (nodes.size === 0) this.#byKey.delete(key);
    this.#keyOfRow.delete(row);
  }
}

/** Lists with equal keys are equal to every toleration. `timeAdded` doesn't matter. */
export function taintsKey(taints: readonly Taint[]): string {
  return JSON.stringify(taints.map(({ key, value, effect }) => [textOf(key), textOf(value), textOf(effect)]));
}
