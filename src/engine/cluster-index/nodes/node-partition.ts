import type { Topology } from './topology-table.ts';

/** Something with a set of nodes: a list of volumes, or a pool. */
export interface Reachable {
  readonly id: number;
  readonly topology: Topology;
}

/**
 * The nodes, divided into cells of which each sees the same things.
 *
 * With local disks each node is a cell of its own; with zonal ones a whole zone is one cell, and what has been decided
 * for one of its nodes holds for all. Flat arrays, since a plan walks all cells:
 *
 *     things of cell c:  things[thingStarts[c] .. thingStarts[c + 1])
 *     nodes of cell c:   nodes[nodeStarts[c] .. nodeStarts[c + 1])
 *
 * Nodes that see nothing are in no cell.
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
    const thingsOfNode = collectThings(reachables, rowCount);
    const cells = groupNodes(thingsOfNode);
    this.cellCount = cells.length;
    this.itemStarts = new Int32Array(cells.length + 1);
    this.nodeStarts = new Int32Array(cells.length + 1);
    this.cellOfNode = new Int32Array(rowCount).fill(-1);
    for (let cell = 0; cell < cells.length; cell++) {
      const { nodes, things } = cells[cell]!;
      this.itemStarts[cell + 1] = this.itemStarts[cell]! + things.length;
      this.nodeStarts[cell + 1] = this.nodeStarts[cell]! + nodes.length;
      for (const node of nodes) this.cellOfNode[node] = cell;
    }
    this.items = Int32Array.from(cells.flatMap((cell) => cell.things));
    this.nodes = Int32Array.from(cells.flatMap((cell) => cell.nodes));
  }

  /** The first of the cells that a walk goes through, and the one after the last: all of them, or that of one node row. */
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
  readonly things: number[];
  readonly nodes: number[];
}

function collectThings(reachables: readonly Reachable[], rowCount: number): (number[] | undefined)[] {
  const thingsOfNode: (number[] | undefined)[] = new Array(rowCount).fill(undefined);
  for (const { id, topology } of reachables) {
    topology.nodes.each((row) => {
      const things = thingsOfNode[row];
      if (things === undefined) thingsOfNode[row] = [id];
      else things.push(id);
    });
  }
  return thingsOfNode;
}

function groupNodes(thingsOfNode: readonly (number[] | undefined)[]): Cell[] {
  const cells: Cell[] = [];
  const byThings = new Map<string | number, Cell>();
  for (let node = 0; node < thingsOfNode.length; node++) {
    const things = thingsOfNode[node];
    if (things === undefined) continue;
    const key = things.length === 1 ? things[0]! : things.join(' ');
    const cell = byThings.get(key);
    if (cell !== undefined) {
      cell.nodes.push(node);
      continue;
    }
    const created = { things, nodes: [node] };
    byThings.set(key, created);
    cells.push(created);
  }
  return cells;
}
