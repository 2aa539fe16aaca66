import type { NodeMatcher } from '../../records/node-matcher.ts';
import type { Topology, TopologyTable } from './topology-table.ts';

/** Enough for the workloads that are being scheduled at a time; each costs the nodes it has and a look at label changes. */
const keptMax = 1_000;

/**
 * The topologies of what pods ask for. A pod that has been planned doesn't say when it is gone, so the ones that were asked for last
 * are kept, and the others let go. Replicas, and the same pod again, find theirs evaluated.
 */
export class TopologyCache {
  readonly #topologies: TopologyTable;
  /** The longest unasked first. */
  readonly #kept = new Map<string, Topology>();

  constructor(topologies: TopologyTable) {
    this.#topologies = topologies;
  }

  get(matcher: NodeMatcher): Topology {
    const known = this.#kept.get(matcher.key);
    const topology = known ?? this.#topologies.acquire(matcher);
    this.#kept.delete(matcher.key);
    this.#kept.set(matcher.key, topology);
    if (this.#kept.size > keptMax) this.#letGo();
    return topology;
  }

  #letGo(): void {
    for (const [key, topology] of this.#kept) {
      this.#kept.delete(key);
      this.#topologies.release(topology);
      return;
    }
  }
}
