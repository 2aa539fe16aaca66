import { addTo, removeFrom } from '../../maps.ts';
import { type MatcherTerm, matcherHolds, type NodeMatcher } from '../../records/node-matcher.ts';
import type { NodeRecord } from '../../records/node-record.ts';
import { labelPair, labelPairs } from '../primitives/label-pairs.ts';
import { NodeSet } from './node-set.ts';
import type { NodeTable } from './node-table.ts';

/** The set of nodes that one matcher selects. All users of an equal matcher share it. */
export class Topology {
  readonly matcher: NodeMatcher;
  readonly nodes = new NodeSet();
  readonly anchors: readonly string[] | undefined;
  users = 0;

  constructor(matcher: NodeMatcher, anchors: readonly string[] | undefined) {
    this.matcher = matcher;
    this.anchors = anchors;
  }
}

/**
 * Every node matcher in use, evaluated once and updated as nodes and their labels change.
 *
 * A term that requires `hostname In [node-1]` can only hold on nodes with that label pair. So its topology is indexed by the pair
 * (its anchor), and evaluated again only when a node has, gets or loses the pair. Terms without such a requirement (NotIn, Exists,
 * Gt ...) are evaluated for every node whose labels change. Such terms are rare.
 */
export class TopologyTable {
  readonly #nodes: NodeTable;
  readonly #byKey = new Map<string, Topology>();
  readonly #byAnchor = new Map<string, Set<Topology>>();
  readonly #unanchored = new Set<Topology>();
  /** Increases whenever a topology gains or loses a node. Caches derived from node sets compare it. */
  version = 0;

  constructor(nodes: NodeTable) {
    this.#nodes = nodes;
  }

  get size(): number {
    return this.#byKey.size;
  }

  /** The topology of a matcher. Pair each call with a `release`. */
  acquire(matcher: NodeMatcher): Topology {
    let topology = this.#byKey.get(matcher.key);
    if (topology === undefined) {
      topology = this.#build(matcher);
      this.#byKey.set(matcher.key, topology);
    }
    topology.users += 1;
    return topology;
  }

  release(topology: Topology): void {
    topology.users -= 1;
    if (topology.users > 0) return;
    this.#byKey.delete(topology.matcher.key);
    if (topology.anchors === undefined) this.#unanchored.delete(topology);
    for (const anchor of topology.anchors ?? []) {
      removeFrom(this.#byAnchor, anchor, topology);
    }
  }

  /** Call this after the node table has changed. `before` is undefined for a new node, `after` for a deleted one. */
  nodeChanged(row: number, before: NodeRecord | undefined, after: NodeRecord | undefined): void {
    const touched = new Set<Topology>(this.#unanchored);
    for (const record of [before, after]) {
      if (record === undefined) continue;
      this.#collect(nameAnchor(record.key), touched);
      for (const pair of labelPairs(record.labels)) this.#collect(pair, touched);
    }
    for (const topology of touched) {
      const holds = after !== undefined && matcherHolds(topology.matcher, after.key, after.labels);
      const changed = holds ? topology.nodes.add(row) : topology.nodes.delete(row);
      if (changed) this.version += 1;
    }
  }

  #collect(anchor: string, into: Set<Topology>): void {
    const anchored = this.#byAnchor.get(anchor);
    if (anchored === undefined) return;
    for (const topology of anchored) into.add(topology);
  }

  #build(matcher: NodeMatcher): Topology {
    const anchors = this.#anchorsOf(matcher);
    const topology = new Topology(matcher, anchors);
    if (anchors === undefined) {
      this.#unanchored.add(topology);
      for (const row of this.#nodes.rowsByName) this.#admit(topology, row);
      return topology;
    }
    for (const anchor of anchors) {
      addTo(this.#byAnchor, anchor, topology);
      this.#nodes.withPair(anchor)?.each((row) => this.#admit(topology, row));
      const named = anchor.startsWith(namePrefix)
        ? this.#nodes.row(anchor.slice(namePrefix.length))
        : undefined;
      if (named !== undefined) this.#admit(topology, named);
    }
    return topology;
  }

  #admit(topology: Topology, row: number): void {
    const record = this.#nodes.record(row)!;
    if (matcherHolds(topology.matcher, record.key, record.labels)) topology.nodes.add(row);
  }

  /** Undefined if some term has no requirement that can be an anchor. */
  #anchorsOf(matcher: NodeMatcher): string[] | undefined {
    const anchors = new Set<string>();
    for (const term of matcher.terms) {
      const best = this.#anchorsOfTerm(term);
      if (best === undefined) return undefined;
      for (const anchor of best) anchors.add(anchor);
    }
    return [...anchors];
  }

  /** The requirement that admits the fewest nodes now. A poor choice costs time, never correctness. */
  #anchorsOfTerm(term: MatcherTerm): string[] | undefined {
    const name = term.names.find((condition) => condition.operator === 'In');
    if (name !== undefined) return [...name.values].map(nameAnchor);
    let best: string[] | undefined;
    let bestNodes = Number.POSITIVE_INFINITY;
    for (const requirement of term.requirements) {
      if (requirement.operator !== 'In') continue;
      const pairs = [...requirement.values].map((value) => labelPair(requirement.key, value));
      const nodes = pairs.reduce((sum, pair) => sum + (this.#nodes.withPair(pair)?.size ?? 0), 0);
      if (nodes >= bestNodes) continue;
      best = pairs;
      bestNodes = nodes;
    }
    return best;
  }
}

/** A label key can't contain a colon, so no label pair equals a name anchor. */
const namePrefix = 'name:';

function nameAnchor(name: string): string {
  return `${namePrefix}${name}`;
}
