import {
  type AllocatableAmounts,
  allocatableAmounts,
  type ResourceAmounts,
} from '../../../kube/quantities/resource-amounts.ts';
import type { NodeRecord } from '../../records/node-record.ts';
import { podUsageOf } from '../../records/pod-demand.ts';
import type { PodRecord } from '../../records/pod-record.ts';
import type { NodeRow } from '../nodes/node-table.ts';
import { ExactSums, growColumn } from '../primitives/exact-sums.ts';
import type { OccupancyTable } from './occupancy.ts';

/** One resource of all nodes, by row. Amounts are as in ResourceAmounts: cpu in thousandths. */
export interface ResourceColumn {
  readonly allocatable: Float64Array;
  /** What the pods on the node have asked for. */
  readonly used: Float64Array;
}

/** What nodes have to give, and what their pods, assigned and assumed, take of it. */
export class UsageTable implements OccupancyTable {
  readonly #cpu = new Column();
  readonly #memory = new Column();
  readonly #ephemeralStorage = new Column();
  readonly #pods = new Column();
  readonly #scoredCpu = new ExactSums();
  readonly #scoredMemory = new ExactSums();
  /** Hugepages and extended resources, as long as a node has or a pod asks for some. */
  readonly #others = new Map<string, Column>();
  #rowCount = 0;

  get cpu(): ResourceColumn {
    return this.#cpu;
  }

  get memory(): ResourceColumn {
    return this.#memory;
  }

  get ephemeralStorage(): ResourceColumn {
    return this.#ephemeralStorage;
  }

  /** How many may and do run there. */
  get pods(): ResourceColumn {
    return this.#pods;
  }

  /** Undefined if no node has and no pod uses any. */
  other(name: string): ResourceColumn | undefined {
    return this.#others.get(name);
  }

  /** Like the used cpu and memory, with something assumed for containers that don't say what they want. */
  get scoredCpu(): Float64Array {
    return this.#scoredCpu.values;
  }

  get scoredMemory(): Float64Array {
    return this.#scoredMemory.values;
  }

  podAdded(row: NodeRow, pod: PodRecord): void {
    this.#count(row, pod, 1);
  }

  podRemoved(row: NodeRow, pod: PodRecord): void {
    this.#count(row, pod, -1);
  }

  /** Call while no pods count on the row if the node comes or goes. */
  nodeChanged(row: NodeRow, before: NodeRecord | undefined, after: NodeRecord | undefined): void {
    if (before !== undefined && before.allocatable === after?.allocatable) return;
    this.#reserve(row + 1);
    if (before !== undefined) this.#mentionAll(allocatableOf(before), -1);
    const amounts = allocatableOf(after);
    this.#mentionAll(amounts, 1);
    this.#cpu.allocatable[row] = amounts.cpuMilli;
    this.#memory.allocatable[row] = amounts.memoryBytes;
    this.#ephemeralStorage.allocatable[row] = amounts.ephemeralStorageBytes;
    this.#pods.allocatable[row] = amounts.pods;
    for (const [name, column] of this.#others) column.allocatable[row] = amounts.others.get(name) ?? 0;
  }

  #count(row: NodeRow, { shape }: PodRecord, sign: 1 | -1): void {
    const { requests, scored } = podUsageOf(shape);
    this.#pods.tally.add(row, sign);
    this.#cpu.tally.add(row, sign * requests.cpuMilli);
    this.#memory.tally.add(row, sign * requests.memoryBytes);
    this.#ephemeralStorage.tally.add(row, sign * requests.ephemeralStorageBytes);
    this.#scoredCpu.add(row, sign * scored.cpuMilli);
    this.#scoredMemory.add(row, sign * scored.memoryBytes);
    if (requests.others.size === 0) return;
    if (sign === 1) this.#mentionAll(requests, 1);
    for (const [name, amount] of requests.others) this.#others.get(name)!.tally.add(row, sign * amount);
    if (sign === -1) this.#mentionAll(requests, -1);
  }

  /** Makes the columns of what is mentioned for the first time, and drops those that nobody mentions any more. */
  #mentionAll({ others }: ResourceAmounts, step: 1 | -1): void {
    for (const name of others.keys()) {
      let column = this.#others.get(name);
      if (column === undefined) {
        column = new Column();
        column.reserve(this.#rowCount);
        this.#others.set(name, column);
      }
      column.mentions += step;
      if (column.mentions === 0) this.#others.delete(name);
    }
  }

  #reserve(rowCount: number): void {
    if (rowCount <= this.#rowCount) return;
    this.#rowCount = Math.max(rowCount, this.#rowCount * 2);
    for (const column of [
      this.#cpu,
      this.#memory,
      this.#ephemeralStorage,
      this.#pods,
      ...this.#others.values(),
    ])
      column.reserve(this.#rowCount);
    this.#scoredCpu.reserve(this.#rowCount);
    this.#scoredMemory.reserve(this.#rowCount);
  }
}

class Column implements ResourceColumn {
  allocatable = new Float64Array(0);
  readonly tally = new ExactSums();
  /** How many nodes and pods have to do with it. */
  mentions = 0;

  get used(): Float64Array {
    return this.tally.values;
  }

  reserve(length: number): void {
    this.allocatable = growColumn(this.allocatable, length);
    this.tally.reserve(length);
  }
}

const nothing = allocatableAmounts({});

/** Read once a record, not once an event. */
const amountsOfRecord = new WeakMap<NodeRecord, AllocatableAmounts>();

/** What the node has to give; nothing where there is no node. */
export function allocatableOf(node: NodeRecord | undefined): AllocatableAmounts {
  if (node === undefined) return nothing;
  let amounts = amountsOfRecord.get(node);
  if (amounts === undefined) {
    amounts = allocatableAmounts(node.allocatable);
    amountsOfRecord.set(node, amounts);
  }
  return amounts;
}
