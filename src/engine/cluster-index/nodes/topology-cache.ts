import type { NodeMatcher } from '../../records/node-matcher.ts';
import type { Topology, TopologyTable } from './topology-table.ts';

/** Enough for the workloads that are scheduled at a time. Each entry costs its node set and a check on every label change. */
const entriesMax = 1_000;

/**
 * The topologies that pods require by node selector and affinity. A planned pod never releases its topology, so this is an LRU cache.
 * Replicas, and retries of the same pod, reuse the evaluated topology.
 */
export class TopologyCache {
  readonly #topologies: TopologyTable;
  /** Least recently used first. */
  readonly #entries = new Map<string, Topology>();

  constructor(topologies: TopologyTable) {
    this.#topologies = topologies;
  }

  get(matcher: NodeMatcher): Topology {
    const known = this.#entries.get(matcher.key);
    const topology = known ?? this.#topologies.acquire(matcher);
    this.#entries.delete(matcher.key);
    this.#entries.set(matcher.key, topology);
    if (this.#entries.size > entriesMax) this.#evictOldest();
    return topology;
  }

  #evictOldest(): void {
    for (const [key, topology] of this.#entries) {
      this.#entries.delete(key);
      this.#topologies.release(topology);
      return;
    }
  }
}
