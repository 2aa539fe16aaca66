import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import { type ClaimRequestGroup, firstFit, VolumeWalk } from './claim-request-groups.ts';
import type { ClaimRequest } from './needs.ts';

/**
 * The existing volume for each request on each node: for every request a column of volume rows by node, -1 for none.
 *
 * This is the hot loop of a plan. It works cell by cell, not node by node. With local disks a cell is a node and has a single list. With
 * zonal disks a cell is a zone, and one decision holds for all of its nodes.
 */
export class StaticChoice {
  readonly #index: ClusterIndex;
  readonly #rowCount: number;
  readonly #rows: Int32Array;
  /** The sizes of the chosen volumes, copied from the lists, because scoring would otherwise visit thousands of records. */
  readonly #bytes: Float64Array;

  constructor(index: ClusterIndex, requests: readonly ClaimRequest[]) {
    this.#index = index;
    this.#rowCount = index.nodes.rowCount;
    this.#rows = index.scratch.ints('chosen volumes', requests.length * this.#rowCount, -1);
    this.#bytes = index.scratch.doubles('chosen sizes', requests.length * this.#rowCount);
  }

  at(request: number, node: number): number {
    return this.#rows[request * this.#rowCount + node]!;
  }

  bytesAt(request: number, node: number): number {
    return this.#bytes[request * this.#rowCount + node]!;
  }

  /** Whether each of the first `wantCount` requests has an existing volume here. */
  servesAll(wantCount: number, node: number): boolean {
    for (let cell = node, request = 0; request < wantCount; request++, cell += this.#rowCount) {
      if (this.#rows[cell]! < 0) return false;
    }
    return true;
  }

  set(request: number, node: number, row: number): void {
    this.#rows[request * this.#rowCount + node] = row;
    this.#bytes[request * this.#rowCount + node] = row < 0 ? 0 : this.#index.volumes.record(row).size.bytes;
  }

  /** Gives a request its reserved volume on every node that reaches it; the best one if there are several. */
  fillReserved(request: ClaimRequest): void {
    for (const row of request.reserved.toReversed()) {
      this.#index.volumes.topology(row).nodes.each((node) => this.set(request.position, node, row));
    }
  }

  /** For all nodes, or only for `onlyRow` if it is not -1. */
  fillFamily(group: ClaimRequestGroup, onlyRow: number): void {
    const { partition } = group;
    const [first, end] = partition.cellRange(onlyRow);
    for (let cell = first; cell < end; cell++) {
      const firstItem = partition.itemStarts[cell]!;
      if (partition.itemStarts[cell + 1]! - firstItem === 1)
        this.#fillFromList(group, cell, partition.items[firstItem]!);
      else this.#fillFromLists(group, cell);
    }
  }

  #fillFromList(group: ClaimRequestGroup, cell: number, list: number): void {
    const { lists } = this.#index.volumes;
    const end = lists.ends[list]!;
    let slot = lists.starts[list]!;
    const isPlain = group.accepts === undefined && this.#index.volumes.hasExactSizes;
    for (let member = 0; member < group.requests.length && slot < end; member++) {
      const request = group.requests[member]!;
      slot =
        isPlain && request.size.exactNano === undefined
          ? lists.lowerBound(list, request.size.bytes, slot)
          : firstFit(this.#index, list, { size: request.size, from: slot, accepts: group.accepts });
      if (slot === end) return;
      this.#setCell(group, cell, request, slot);
      slot += 1;
    }
  }

  #fillFromLists(group: ClaimRequestGroup, cell: number): void {
    const { partition } = group;
    const lists = Array.from(
      partition.items.subarray(partition.itemStarts[cell], partition.itemStarts[cell + 1]),
    );
    const walk = new VolumeWalk(this.#index, lists, group.accepts);
    for (const request of group.requests) {
      const slot = walk.nextSlot(request.size);
      if (slot < 0) return;
      this.#setCell(group, cell, request, slot);
    }
  }

  #setCell({ partition }: ClaimRequestGroup, cell: number, request: ClaimRequest, slot: number): void {
    const { lists } = this.#index.volumes;
    const column = request.position * this.#rowCount;
    const row = lists.rows[slot]!;
    const bytes = lists.bytes[slot]!;
    const end = partition.nodeStarts[cell + 1]!;
    for (let position = partition.nodeStarts[cell]!; position < end; position++) {
      this.#rows[column + partition.nodes[position]!] = row;
      this.#bytes[column + partition.nodes[position]!] = bytes;
    }
  }
}
