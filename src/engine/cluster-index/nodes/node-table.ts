import { setOrDelete } from '../../maps.ts';
import type { NodeDriversRecord } from '../../records/driver-record.ts';
import type { NodeRecord } from '../../records/node-record.ts';
import { lowerBound } from '../primitives/binary-search.ts';
import { type Bitset, clearBit, newBitset, withBit } from '../primitives/bitset.ts';
import { labelPairs } from '../primitives/label-pairs.ts';
import { NodeSet } from './node-set.ts';

/** The row of a node in every column of the index. Rows of removed nodes are reused. */
declare const brand: unique symbol;
export type NodeRow = number & { readonly [brand]: 'NodeRow' };

/**
 * The nodes: one dense row each, in name order for deterministic choices, and by label pair for evaluating selectors.
 */
export class NodeTable {
  readonly #rows = new Map<string, NodeRow>();
  readonly #records: (NodeRecord | undefined)[] = [];
  readonly #freeRows: NodeRow[] = [];
  readonly #byPair = new Map<string, NodeSet>();
  /** Keyed by node name: a CSINode may exist before its Node, and after it. */
  readonly #drivers = new Map<string, NodeDriversRecord>();
  readonly #driversOfRow: (NodeDriversRecord | undefined)[] = [];
  #limitingNodes = 0;
  /** Live rows, ascending by node name. */
  readonly #byName: NodeRow[] = [];
  #live: Bitset = newBitset(0);

  /** Columns must have this many entries. Some rows may belong to no node. */
  get rowCount(): number {
    return this.#records.length;
  }

  get size(): number {
    return this.#rows.size;
  }

  get rowsByName(): readonly NodeRow[] {
    return this.#byName;
  }

  /** A copy of the set of live rows. */
  liveRows(): Bitset {
    return this.#live.slice();
  }

  row(name: string): NodeRow | undefined {
    return this.#rows.get(name);
  }

  record(row: number): NodeRecord | undefined {
    return this.#records[row];
  }

  get(name: string): NodeRecord | undefined {
    const row = this.#rows.get(name);
    return row === undefined ? undefined : this.#records[row];
  }

  drivers(name: string): NodeDriversRecord | undefined {
    return this.#drivers.get(name);
  }

  driversOfRow(row: number): NodeDriversRecord | undefined {
    return this.#driversOfRow[row];
  }

  /** Whether any node has an attach limit. Many clusters have none. */
  get hasAttachLimits(): boolean {
    return this.#limitingNodes > 0;
  }

  setDrivers(name: string, record: NodeDriversRecord | undefined): void {
    this.#countDrivers(this.#drivers.get(name), -1);
    this.#countDrivers(record, 1);
    setOrDelete(this.#drivers, name, record);
    const row = this.#rows.get(name);
    if (row !== undefined) this.#driversOfRow[row] = record;
  }

  /** The nodes that have the label pair. Topologies are anchored at the rarest pair. */
  withPair(pair: string): NodeSet | undefined {
    return this.#byPair.get(pair);
  }

  put(record: NodeRecord): NodeRow {
    const known = this.#rows.get(record.key);
    if (known !== undefined) {
      this.#unlinkPairs(known);
      this.#records[known] = record;
      this.#linkPairs(known);
      return known;
    }
    const row = this.#freeRows.pop() ?? (this.#records.length as NodeRow);
    this.#records[row] = record;
    this.#rows.set(record.key, row);
    this.#live = withBit(this.#live, row);
    this.#driversOfRow[row] = this.#drivers.get(record.key);
    this.#byName.splice(this.#namePosition(record.key), 0, row);
    this.#linkPairs(row);
    return row;
  }

  delete(name: string): NodeRow | undefined {
    const row = this.#rows.get(name);
    if (row === undefined) return undefined;
    this.#unlinkPairs(row);
    this.#byName.splice(this.#namePosition(name), 1);
    this.#rows.delete(name);
    clearBit(this.#live, row);
    this.#records[row] = undefined;
    this.#driversOfRow[row] = undefined;
    this.#freeRows.push(row);
    return row;
  }

  #countDrivers(record: NodeDriversRecord | undefined, step: 1 | -1): void {
    if (record === undefined) return;
    if ([...record.limits.values()].some((limit) => limit !== undefined)) this.#limitingNodes += step;
  }

  #namePosition(name: string): number {
    return lowerBound(this.#byName, (row) => this.#records[row]!.key < name);
  }

  #linkPairs(row: NodeRow): void {
    for (const pair of labelPairs(this.#records[row]!.labels)) {
      let nodes = this.#byPair.get(pair);
      if (nodes === undefined) {
        nodes = new NodeSet();
        this.#byPair.set(pair, nodes);
      }
      nodes.add(row);
    }
  }

  #unlinkPairs(row: NodeRow): void {
    for (const pair of labelPairs(this.#records[row]!.labels)) {
      const nodes = this.#byPair.get(pair);
      nodes?.delete(row);
      if (nodes?.size === 0) this.#byPair.delete(pair);
    }
  }
}
