import type { PodRecord } from '../../records/pod-record.ts';
import type { NodeRow, NodeTable } from '../nodes/node-table.ts';
import type { PodTable } from './pod-table.ts';

/** A table that adds up something over the pods of each node. */
export interface OccupancyTable {
  /** The pod, assigned or assumed, counts on this node from now on. */
  podAdded(row: NodeRow, pod: PodRecord): void;
  /** Told with the very record that came. */
  podRemoved(row: NodeRow, pod: PodRecord): void;
}

/**
 * Tells the tables which pods stand on which node, however that comes about: a pod is assigned, assumed, finished, changed or taken
 * back, or its node appears or vanishes. Whatever came also leaves, before its row is used again.
 */
export class Occupancy {
  readonly #nodes: NodeTable;
  readonly #pods: PodTable;
  readonly #tables: readonly OccupancyTable[];

  constructor(nodes: NodeTable, pods: PodTable, tables: readonly OccupancyTable[]) {
    this.#nodes = nodes;
    this.#pods = pods;
    this.#tables = tables;
  }

  /** Runs what changes the pod in the pod table. */
  updatePod(key: string, change: () => void): void {
    const before = this.#occupant(key);
    change();
    const after = this.#occupant(key);
    if (before?.pod === after?.pod) return;
    if (before !== undefined) this.#leaves(before.row, before.pod);
    if (after !== undefined) this.#comes(after.row, after.pod);
  }

  nodeAdded(name: string, row: NodeRow): void {
    for (const pod of this.#pods.onNode(name)) this.#comes(row, pod);
  }

  /** Call while the node still has its row. */
  nodeRemoving(name: string): void {
    const row = this.#nodes.row(name);
    if (row === undefined) return;
    for (const pod of this.#pods.onNode(name)) this.#leaves(row, pod);
  }

  #occupant(key: string): { readonly row: NodeRow; readonly pod: PodRecord } | undefined {
    const pod = this.#pods.get(key);
    if (pod === undefined || pod.nodeName === '' || pod.isFinished) return undefined;
    const row = this.#nodes.row(pod.nodeName);
    return row === undefined ? undefined : { row, pod };
  }

  #comes(row: NodeRow, pod: PodRecord): void {
    for (const table of this.#tables) table.podAdded(row, pod);
  }

  #leaves(row: NodeRow, pod: PodRecord): void {
    for (const table of this.#tables) table.podRemoved(row, pod);
  }
}
