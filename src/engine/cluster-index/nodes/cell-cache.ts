import { type Reachable, ReachCells } from './reach-cells.ts';
import type { TopologyTable } from './topology-table.ts';

/** Enough for every class of a large cluster; past it the cache starts over. */
const entriesMax = 256;

interface CellQuery {
  /** What is asked for, e.g. the shelves of a class. */
  readonly key: string;
  /** Rises when the things behind the key change. */
  readonly version: number;
  readonly rowCount: number;
}

/** Keeps {@link ReachCells} until the things or the node sets behind them change; a plan reuses them as they are. */
export class CellCache {
  readonly #topologies: TopologyTable;
  readonly #entries = new Map<string, { readonly stamp: string; readonly cells: ReachCells }>();

  constructor(topologies: TopologyTable) {
    this.#topologies = topologies;
  }

  get(query: CellQuery, reachables: () => readonly Reachable[]): ReachCells {
    const stamp = `${query.version} ${this.#topologies.version} ${query.rowCount}`;
    const known = this.#entries.get(query.key);
    if (known?.stamp === stamp) return known.cells;
    if (this.#entries.size >= entriesMax) this.#entries.clear();
    const cells = new ReachCells(reachables(), query.rowCount);
    this.#entries.set(query.key, { stamp, cells });
    return cells;
  }
}
