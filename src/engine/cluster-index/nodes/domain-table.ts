import { lookUp } from '../../../kube/wire.ts';
import type { NodeRecord } from '../../records/node-record.ts';
import type { NodeTable } from './node-table.ts';

/** The domain number of a node that lacks the label. */
export const noDomain = -1;

/** The domains of one topology key: nodes with the same value of that label form one domain. */
export class Domains {
  readonly key: string;
  /** The number of each node's domain by node row, or {@link noDomain}. */
  of: Int32Array;
  readonly #numbers = new Map<string, number>();

  constructor(key: string, rowCount: number) {
    this.key = key;
    this.of = new Int32Array(rowCount).fill(noDomain);
  }

  /** All domain numbers are below this. Some domains may have no nodes left. */
  get count(): number {
    return this.#numbers.size;
  }

  numberOf(value: string): number {
    return this.#numbers.get(value) ?? noDomain;
  }

  setNode(row: number, node: NodeRecord | undefined): void {
    this.grow(row + 1);
    const value = node === undefined ? undefined : lookUp(node.labels, this.key);
    this.of[row] = value === undefined ? noDomain : this.#intern(value);
  }

  grow(rowCount: number): void {
    if (rowCount <= this.of.length) return;
    const longer = new Int32Array(Math.max(rowCount, this.of.length * 2)).fill(noDomain);
    longer.set(this.of);
    this.of = longer;
  }

  /** Adds each node's value in `column`, times `weight`, to the sum of the node's domain. */
  sumInto(sums: Int32Array, column: Int32Array, weight: number): void {
    const { of } = this;
    const rows = Math.min(of.length, column.length);
    for (let row = 0; row < rows; row++) {
      const count = column[row]!;
      if (count !== 0 && of[row]! !== noDomain) sums[of[row]!]! += count * weight;
    }
  }

  #intern(value: string): number {
    const known = this.#numbers.get(value);
    if (known !== undefined) return known;
    this.#numbers.set(value, this.#numbers.size);
    return this.#numbers.size - 1;
  }
}

/** Topology keys are few, but pods may name any key. Beyond this the least recently used key is dropped. */
const keysMax = 64;
/** How many domain numbers a key may have beyond the number of nodes before it is dropped and rebuilt. */
const unusedNumbersMax = 1024;

/** The domains of every topology key in use. They are built on first use and updated as nodes and their labels change. */
export class DomainTable {
  readonly #nodes: NodeTable;
  readonly #byKey = new Map<string, Domains>();

  constructor(nodes: NodeTable) {
    this.#nodes = nodes;
  }

  of(key: string): Domains {
    const known = this.#byKey.get(key);
    const domains = known ?? this.#build(key);
    this.#byKey.delete(key);
    this.#byKey.set(key, domains);
    domains.grow(this.#nodes.rowCount);
    return domains;
  }

  /** Call after the node table has changed. */
  nodeChanged(row: number, node: NodeRecord | undefined): void {
    for (const domains of this.#byKey.values()) {
      domains.setNode(row, node);
      if (domains.count > this.#nodes.size + unusedNumbersMax) this.#byKey.delete(domains.key);
    }
  }

  #build(key: string): Domains {
    if (this.#byKey.size >= keysMax) {
      for (const oldest of this.#byKey.keys()) {
        this.#byKey.delete(oldest);
        break;
      }
    }
    const domains = new Domains(key, this.#nodes.rowCount);
    for (const row of this.#nodes.rowsByName) domains.setNode(row, this.#nodes.record(row));
    return domains;
  }
}
