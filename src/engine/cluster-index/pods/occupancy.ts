import type { PodRecord } from '../../records/pod-record.ts';
import type { NodeRow, NodeTable } from '../nodes/node-table.ts';
import type { PodTable } from './pod-table.ts';

/** A table that aggregates over the pods of each node. */
export interface OccupancyTable {
  /** The pod, assigned or assumed, counts on this node from now on. */
  podAdded(row: NodeRow, pod: PodRecord): void;
  /** `pod` is the same record that was passed to `podAdded`. */
  podRemoved(row: NodeRow, pod: PodRecord): void;
}

/**
 * Notifies the tables which pods are on which node, whatever the cause: a pod is assigned, assumed, finished, changed or its assumption
 * is reverted, or its node is added or deleted. Every pod that was added is removed before its row is reused.
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

  /** Runs `change`, which updates the pod in the pod table, and notifies the tables. */
  updatePod(key: string, change: () => void): void {
    const before = this.#occupant(key);
    change();
    const after = this.#occupant(key);
    if (before?.pod === after?.pod) return;
    if (before !== undefined) this.#removePod(before.row, before.pod);
    if (after !== undefined) this.#addPod(after.row, after.pod);
  }

  nodeAdded(name: string, row: NodeRow): void {
    for (const pod of this.#pods.onNode(name)) this.#addPod(row, pod);
  }

  /** Call this while the node still has its row. */
  nodeRemoving(name: string): void {
    const row = this.#nodes.row(name);
    if (row === undefined) return;
    for (const pod of this.#pods.onNode(name)) this.#removePod(row, pod);
  }

  #occupant(key: string): { readonly row: NodeRow; readonly pod: PodRecord } | undefined {
    const pod = this.#pods.get(key);
    if (pod === undefined || pod.nodeName === '' || pod.isFinished) return undefined;
    const row = this.#nodes.row(pod.nodeName);
    return row === undefined ? undefined : { row, pod };
  }

  #addPod(row: NodeRow, pod: PodRecord): void {
    for (const table of this.#tables) table.podAdded(row, pod);
  }

  #removePod(row: NodeRow, pod: PodRecord): void {
    for (const table of this.#tables) table.podRemoved(row, pod);
  }
}
