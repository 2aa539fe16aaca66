import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import type { Want } from './needs.ts';
import { firstFit, VolumeWalk, type WantFamily } from './want-families.ts';

/**
 * The existing volume for each want on each node: for every want a column of volume rows by node, -1 for none.
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

  constructor(index: ClusterIndex, wants: readonly Want[]) {
    this.#index = index;
    this.#rowCount = index.nodes.rowCount;
    this.#rows = index.scratch.ints('chosen volumes', wants.length * this.#rowCount, -1);
    this.#bytes = index.scratch.doubles('chosen sizes', wants.length * this.#rowCount);
  }

  at(want: number, node: number): number {
    return this.#rows[want * this.#rowCount + node]!;
  }

  bytesAt(want: number, node: number): number {
    return this.#bytes[want * this.#rowCount + node]!;
  }

  /** Whether each of the first `wantCount` wants has an existing volume here. */
  servesAll(wantCount: number, node: number): boolean {
    for (let cell = node, want = 0; want < wantCount; want++, cell += this.#rowCount) {
      if (this.#rows[cell]! < 0) return false;
    }
    return true;
  }

  set(want: number, node: number, row: number): void {
    this.#rows[want * this.#rowCount + node] = row;
    this.#bytes[want * this.#rowCount + node] = row < 0 ? 0 : this.#index.volumes.record(row).size.bytes;
  }

  /** Gives a want its reserved volume on every node that reaches it; the best one if there are several. */
  fillReserved(want: Want): void {
    for (const row of want.reserved.toReversed()) {
      this.#index.volumes.topology(row).nodes.each((node) => this.set(want.position, node, row));
    }
  }

  /** For all nodes, or only for `onlyRow` if it is not -1. */
  fillFamily(family: WantFamily, onlyRow: number): void {
    const { partition } = family;
    const [first, end] = partition.cellRange(onlyRow);
    for (let cell = first; cell < end; cell++) {
      const firstItem = partition.itemStarts[cell]!;
      if (partition.itemStarts[cell + 1]! - firstItem === 1)
        this.#fillFromList(family, cell, partition.items[firstItem]!);
      else this.#fillFromLists(family, cell);
    }
  }

  #fillFromList(family: WantFamily, cell: number, list: number): void {
    const { lists } = this.#index.volumes;
    const end = lists.ends[list]!;
    let slot = lists.starts[list]!;
    const isPlain = family.accepts === undefined && this.#index.volumes.hasExactSizes;
    for (let member = 0; member < family.wants.length && slot < end; member++) {
      const want = family.wants[member]!;
      slot =
        isPlain && want.size.exactNano === undefined
          ? lists.lowerBound(list, want.size.bytes, slot)
          : firstFit(this.#index, list, { size: want.size, from: slot, accepts: family.accepts });
      if (slot === end) return;
      this.#setCell(family, cell, want, slot);
      slot += 1;
    }
  }

  #fillFromLists(family: WantFamily, cell: number): void {
    const { partition } = family;
    const lists = Array.from(
      partition.items.subarray(partition.itemStarts[cell], partition.itemStarts[cell + 1]),
    );
    const walk = new VolumeWalk(this.#index, lists, family.accepts);
    for (const want of family.wants) {
      const slot = walk.nextSlot(want.size);
      if (slot < 0) return;
      this.#setCell(family, cell, want, slot);
    }
  }

  #setCell({ partition }: WantFamily, cell: number, want: Want, slot: number): void {
    const { lists } = this.#index.volumes;
    const column = want.position * this.#rowCount;
    const row = lists.rows[slot]!;
    const bytes = lists.bytes[slot]!;
    const end = partition.nodeStarts[cell + 1]!;
    for (let position = partition.nodeStarts[cell]!; position < end; position++) {
      this.#rows[column + partition.nodes[position]!] = row;
      this.#bytes[column + partition.nodes[position]!] = bytes;
    }
  }
}
