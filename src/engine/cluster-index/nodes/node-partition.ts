import type { Topology } from './topology-table.ts';

/** An item that a set of nodes reaches: a list of volumes, or a pool. */
export interface Reachable {
  readonly id: number;
  readonly topology: Topology;
}

/**
 * A partition of the nodes into cells. All nodes of a cell reach the same items.
 *
 * With local disks each node is its own cell. With zonal disks a whole zone is one cell, and a decision about one of its nodes
 * applies to all of them. A plan iterates over all cells, so the data is in flat arrays:
 *
 *     items of cell c:  items[itemStarts[c] .. itemStarts[c + 1])
 *     nodes of cell c:   nodes[nodeStarts[c] .. nodeStarts[c + 1])
 *
 * Nodes that reach no item are in no cell.
 */
export class NodePartition {
  readonly cellCount: number;
  readonly itemStarts: Int32Array;
  readonly items: Int32Array;
  readonly nodeStarts: Int32Array;
  readonly nodes: Int32Array;
  /** The cell of a node row, -1 for none. */
  readonly cellOfNode: Int32Array;

  constructor(reachables: readonly Reachable[], rowCount: number) {
    const itemsOfNode = collectItems(reachables, rowCount);
    const cells = groupNodes(itemsOfNode);
    this.cellCount = cells.length;
    this.itemStarts = new Int32Array(cells.length + 1);
    this.nodeStarts = new Int32Array(cells.length + 1);
    this.cellOfNode = new Int32Array(rowCount).fill(-1);
    for (let cell = 0; cell < cells.length; cell++) {
      const { nodes, items } = cells[cell]!;
      this.itemStarts[cell + 1] = this.itemStarts[cell]! + items.length;
      this.nodeStarts[cell + 1] = this.nodeStarts[cell]! + nodes.length;
      for (const node of nodes) this.cellOfNode[node] = cell;
    }
    this.items = Int32Array.from(cells.flatMap((cell) => cell.items));
    this.nodes = Int32Array.from(cells.flatMap((cell) => cell.nodes));
  }

  /** The half-open range of cells to iterate over: all cells, or the cell of one node row. */
  cellRange(onlyRow: number): readonly [first: number, end: number] {
    if (onlyRow < 0) return [0, this.cellCount];
    const cell = this.cellOfNode[onlyRow] ?? -1;
    return [cell, cell < 0 ? cell : cell + 1];
  }

  itemsAt(node: number): readonly number[] {
    const cell = this.cellOfNode[node] ?? -1;
    if (cell < 0) return [];
    return Array.from(this.items.subarray(this.itemStarts[cell]!, this.itemStarts[cell + 1]!));
  }
}

interface Cell {
  readonly items: number[];
  readonly nodes: number[];
}

function collectItems(reachables: readonly Reachable[], rowCount: number): (number[] | undefined)[] {
  const itemsOfNode: (number[] | undefined)[] = new Array(rowCount).fill(undefined);
  for (const { id, topology } of reachables) {
    topology.nodes.each((row) => {
      const items = itemsOfNode[row];
      if (items === undefined) itemsOfNode[row] = [id];
      else items.push(id);
    });
  }
  return itemsOfNode;
}

function groupNodes(itemsOfNode: readonly (number[] | undefined)[]): Cell[] {
  const cells: Cell[] = [];
  const byItems = new Map<string | number, Cell>();
  for (let node = 0; node < itemsOfNode.length; node++) {
    const items = itemsOfNode[node];
    if (items === undefined) continue;
    const key = items.length === 1 ? items[0]! : items.join(' ');
    const cell = byItems.get(key);
    if (cell !== undefined) {
      cell.nodes.push(node);
      continue;
    }
    const created = { items, nodes: [node] };
    byItems.set(key, created);
    cells.push(created);
  }
  return cells;
}
