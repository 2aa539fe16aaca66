import { lookUp } from '../../../kube/wire.ts';
import type { NodeRecord } from '../../records/node-record.ts';
import type { NodeTable } from './node-table.ts';

/** What a node without the label has in the place of a domain. */
export const noDomain = -1;

/** One topology key: the nodes that have the same value under it are one domain. */
export class Domains {
  readonly key: string;
  /** By node row: the number of its domain, or {@link noDomain}. */
  of: Int32Array;
  readonly #numbers = new Map<string, number>();

  constructor(key: string, rowCount: number) {
    this.key = key;
    this.of = new Int32Array(rowCount).fill(noDomain);
  }

  /** Numbers are below this; some may have no node any more. */
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

  /** Adds what stands in a column of node rows to the numbers of the domains. */
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

/** Keys are few; but pods may name any. Past this the one that was asked for longest ago is forgotten. */
const keysMax = 64;
/** Numbers of values that no node has any more are kept up to this many beyond the nodes. */
const spareNumbersMax = 1024;

/** The domains of every topology key in use: made when first asked for, kept true as nodes come, go and change labels. */
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
      if (domains.count > this.#nodes.size + spareNumbersMax) this.#byKey.delete(domains.key);
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
