import { NodePartition, type Reachable } from './node-partition.ts';
import type { TopologyTable } from './topology-table.ts';

/** Enough for every class of a large cluster; past it the cache starts over. */
const entriesMax = 256;

interface PartitionQuery {
  /** What is asked for, e.g. the shelves of a class. */
  readonly key: string;
  /** Rises when the things behind the key change. */
  readonly version: number;
  readonly rowCount: number;
}

/** Keeps {@link NodePartition} until the things or the node sets behind them change; a plan reuses them as they are. */
export class PartitionCache {
  readonly #topologies: TopologyTable;
  readonly #entries = new Map<string, { readonly stamp: string; readonly cells: NodePartition }>();

  constructor(topologies: TopologyTable) {
    this.#topologies = topologies;
  }

  get(query: PartitionQuery, reachables: () => readonly Reachable[]): NodePartition {
    const stamp = `${query.version} ${this.#topologies.version} ${query.rowCount}`;
    const known = this.#entries.get(query.key);
    if (known?.stamp === stamp) return known.cells;
    if (this.#entries.size >= entriesMax) this.#entries.clear();
    const cells = new NodePartition(reachables(), query.rowCount);
    this.#entries.set(query.key, { stamp, cells });
    return cells;
  }
}
