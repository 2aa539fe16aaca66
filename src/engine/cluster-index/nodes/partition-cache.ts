import { NodePartition, type Reachable } from './node-partition.ts';
import type { TopologyTable } from './topology-table.ts';

/** Enough for every class of a large cluster. The cache is cleared when it is full. */
const entriesMax = 256;

interface PartitionQuery {
  /** Names the items, e.g. the volume groups of a class. */
  readonly key: string;
  /** Increases when the items of the key change. */
  readonly version: number;
  readonly rowCount: number;
}

/** Caches each {@link NodePartition} until its items or their node sets change. */
export class PartitionCache {
  readonly #topologies: TopologyTable;
  readonly #entries = new Map<string, { readonly stamp: string; readonly partition: NodePartition }>();

  constructor(topologies: TopologyTable) {
    this.#topologies = topologies;
  }

  get(query: PartitionQuery, reachables: () => readonly Reachable[]): NodePartition {
    const stamp = `${query.version} ${this.#topologies.version} ${query.rowCount}`;
    const known = this.#entries.get(query.key);
    if (known?.stamp === stamp) return known.partition;
    if (this.#entries.size >= entriesMax) this.#entries.clear();
    const partition = new NodePartition(reachables(), query.rowCount);
    this.#entries.set(query.key, { stamp, partition });
    return partition;
  }
}
