import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import {
  type Bitset,
  clearBit,
  countBits,
  hasBit,
  membersInto,
  newBitset,
  withBit,
} from '../../cluster-index/primitives/bitset.ts';
import type { PodRecord } from '../../records/pod-record.ts';
import { packUnresolvableVerdict, packVerdict } from './verdict.ts';

/**
 * One pod against all nodes. Rules narrow `feasible` one after the other; what a node was rejected for stands in
 * `verdicts` (`verdict.ts`).
 */
export class Cycle {
  readonly index: ClusterIndex;
  readonly pod: PodRecord;
  readonly nowMs: number;
  readonly rowCount: number;
  /** The row of the only node that is looked at, -1 where there may be several: what is worked out for all can then be for one. */
  readonly onlyRow: number;
  readonly feasible: Bitset;
  readonly verdicts: Int32Array;
  readonly notes = new Map<number, string[]>();
  /** Set by the rule that chooses volumes, for rules that judge the choice. */
  chosenVolumes: ChosenVolumes | undefined;
  #rule = 0;

  /** `only`: the nodes that are looked at; all of them unless it says otherwise. */
  constructor(index: ClusterIndex, pod: PodRecord, nowMs: number, only?: Iterable<string>) {
    this.index = index;
    this.pod = pod;
    this.nowMs = nowMs;
    this.rowCount = index.nodes.rowCount;
    const named = only === undefined ? undefined : rowsNamed(index, only);
    this.onlyRow = named?.length === 1 ? named[0]! : -1;
    this.feasible = named === undefined ? index.nodes.liveRows() : bitsOf(named, this.rowCount);
    this.verdicts = index.scratch.ints('verdicts', this.rowCount);
  }

  /** The position of the rule that filters next. */
  startRule(position: number): void {
    this.#rule = position;
  }

  /** `reasons`: bits by position in the rule's own list. Whether other pods are in the way follows from the reasons. */
  reject(node: number, reasons: number): void {
    clearBit(this.feasible, node);
    this.verdicts[node] = packVerdict(this.#rule, reasons);
  }

  /** Rejects it for reasons that would stand even if the node were empty, whatever the reasons say in general. */
  rejectUnresolvable(node: number, reasons: number): void {
    clearBit(this.feasible, node);
    this.verdicts[node] = packUnresolvableVerdict(this.#rule, reasons);
  }

  /** A name that the message about a rejected node has to mention; there may be several. */
  note(node: number, name: string): void {
    const known = this.notes.get(node);
    if (known === undefined) this.notes.set(node, [name]);
    else known.push(name);
  }

  isFeasible(node: number): boolean {
    return hasBit(this.feasible, node);
  }

  /** The feasible rows, ascending, in the first entries of a column; and how many they are. */
  feasibleRows(): { readonly rows: Int32Array; readonly count: number } {
    const rows = this.index.scratch.ints('feasible rows', this.rowCount);
    return { rows, count: membersInto(this.feasible, rows) };
  }

  get feasibleCount(): number {
    return countBits(this.feasible);
  }
}

/** The existing volumes that the pod would get on a node, by row. */
export interface ChosenVolumes {
  volumesAt(node: number): readonly number[];
}

function rowsNamed(index: ClusterIndex, names: Iterable<string>): number[] {
  const rows: number[] = [];
  for (const name of names) {
    const row = index.nodes.row(name);
    if (row !== undefined) rows.push(row);
  }
  return rows;
}

function bitsOf(rows: readonly number[], rowCount: number): Bitset {
  let bits = newBitset(rowCount);
  for (const row of rows) bits = withBit(bits, row);
  return bits;
}
