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
 * The evaluation of one pod against all nodes. The rules narrow `feasible` one after the other; `verdicts` (`verdict.ts`) has the reason
 * why each node was rejected.
 */
export class Cycle {
  readonly index: ClusterIndex;
  readonly pod: PodRecord;
  readonly nowMs: number;
  readonly rowCount: number;
  /** The row of the node if only one is evaluated, else -1. Rules that process all nodes together can then process only this one. */
  readonly onlyRow: number;
  readonly feasible: Bitset;
  readonly verdicts: Int32Array;
  readonly notes = new Map<number, string[]>();
  /** Set by the rule that chooses volumes, for rules that depend on the choice. */
  chosenVolumes: ChosenVolumes | undefined;
  #rule = 0;

  /** `only`: the names of the nodes to evaluate; all nodes if undefined. */
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

  /** `reasons`: bits by position in the rule's own list. The reasons decide whether preemption may help. */
  reject(node: number, reasons: number): void {
    clearBit(this.feasible, node);
    this.verdicts[node] = packVerdict(this.#rule, reasons);
  }

  /** Rejects the node for reasons that would hold even if the node were empty, so that preemption can't help. */
  rejectUnresolvable(node: number, reasons: number): void {
    clearBit(this.feasible, node);
    this.verdicts[node] = packUnresolvableVerdict(this.#rule, reasons);
  }

  /** Adds a name that the message about a rejected node contains; a node may have several. */
  note(node: number, name: string): void {
    const known = this.notes.get(node);
    if (known === undefined) this.notes.set(node, [name]);
    else known.push(name);
  }

  isFeasible(node: number): boolean {
    return hasBit(this.feasible, node);
  }

  /** The feasible rows in ascending order, in the first `count` entries of a column. */
  feasibleRows(): { readonly rows: Int32Array; readonly count: number } {
    const rows = this.index.scratch.ints('feasible rows', this.rowCount);
    return { rows, count: membersInto(this.feasible, rows) };
  }

  get feasibleCount(): number {
    return countBits(this.feasible);
  }
}

/** The rows of the existing volumes that the pod would get on a node. */
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
