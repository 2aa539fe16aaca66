import { type Bitset, clearBit, hasBit, newBitset, withBit } from '../primitives/bitset.ts';

/** Above this many members, searching a list costs more than storing a bitset. */
const listMax = 16;

/**
 * A set of node rows that is cheap both for a local disk (one node) and for a zone (a thousand nodes): a short list while it is
 * small, a bitset from then on. Most topologies of a cluster have exactly one node.
 */
export class NodeSet {
  #list: number[] = [];
  #bits: Bitset | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(row: number): boolean {
    return this.#bits === undefined ? this.#list.includes(row) : hasBit(this.#bits, row);
  }

  add(row: number): boolean {
    if (this.has(row)) return false;
    this.#size += 1;
    if (this.#bits === undefined && this.#list.length < listMax) {
      this.#list.push(row);
      return true;
    }
    this.#bits = withBit(this.#bits ?? this.#toBits(), row);
    return true;
  }

  delete(row: number): boolean {
    if (!this.has(row)) return false;
    this.#size -= 1;
    if (this.#bits === undefined) this.#list.splice(this.#list.indexOf(row), 1);
    else clearBit(this.#bits, row);
    return true;
  }

  each(visit: (row: number) => void): void {
    if (this.#bits === undefined) {
      for (const row of this.#list) visit(row);
      return;
    }
    for (let word = 0; word < this.#bits.length; word++) {
      for (let bits = this.#bits[word]!; bits !== 0; bits &= bits - 1) {
        visit((word << 5) + (31 - Math.clz32(bits & -bits)));
      }
    }
  }

  rows(): number[] {
    const rows: number[] = [];
    this.each((row) => rows.push(row));
    return rows.sort((a, b) => a - b);
  }

  #toBits(): Bitset {
    let bits = newBitset(0);
    for (const row of this.#list) bits = withBit(bits, row);
    this.#list = [];
    return bits;
  }
}
