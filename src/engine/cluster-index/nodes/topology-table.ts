import { type MatcherTerm, matcherHolds, type NodeMatcher } from '../../records/node-matcher.ts';
import type { NodeRecord } from '../../records/node-record.ts';
import { labelPair, labelPairs } from '../primitives/label-pairs.ts';
import { addTo, removeFrom } from '../primitives/maps.ts';
import { NodeSet } from './node-set.ts';
import type { NodeTable } from './node-table.ts';

/** One set of nodes that something can be reached from; shared by all that have an equal matcher. */
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
 * Every node matcher in use, evaluated once and kept true as nodes come, go and change labels.
 *
 * A term that requires `hostname In [node-1]` can only hold on nodes with that label pair, so its topology is found
 * from the pair ("anchored" there) and looked at only when a node has, gets or loses it. Terms without such a
 * requirement (NotIn, Exists, Gt ...) are looked at for every node whose labels change; they are rare.
 */
export class TopologyTable {
  readonly #nodes: NodeTable;
  readonly #byKey = new Map<string, Topology>();
  readonly #byAnchor = new Map<string, Set<Topology>>();
  readonly #unanchored = new Set<Topology>();
  /** Rises whenever any topology gains or loses a node; what is derived from node sets compares it. */
  version = 0;

  constructor(nodes: NodeTable) {
    this.#nodes = nodes;
  }

  get size(): number {
    return this.#byKey.size;
  }

  /** The topology of a matcher; each call is to be paired with a `release`. */
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

  /** Call after the node table has changed: `before` and `after` are the node's records, undefined where it is absent. */
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

  /** Undefined if some term has nothing to be anchored at. */
  #anchorsOf(matcher: NodeMatcher): string[] | undefined {
    const anchors = new Set<string>();
    for (const term of matcher.terms) {
      const best = this.#anchorsOfTerm(term);
      if (best === undefined) return undefined;
      for (const anchor of best) anchors.add(anchor);
    }
    return [...anchors];
  }

  /** The requirement that admits the fewest nodes today; a poor choice costs time, never correctness. */
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

/** A label key can't contain a colon, so a name can't be taken for a label pair. */
const namePrefix = 'name:';

function nameAnchor(name: string): string {
  return `${namePrefix}${name}`;
}
