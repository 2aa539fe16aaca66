import {
  type AllocatableAmounts,
  allocatableAmounts,
  type ResourceAmounts,
} from '../../../kube/quantities/resource-amounts.ts';
import type { NodeRecord } from '../../records/node-record.ts';
import type { PodRecord } from '../../records/pod-record.ts';
import { podUsageOf } from '../../records/pod-shape/pod-demand.ts';
import type { NodeRow } from '../nodes/node-table.ts';
import { ExactSums, growColumn } from '../primitives/exact-sums.ts';
import type { OccupancyTable } from './occupancy.ts';

/** One resource of all nodes, by row. Units are those of ResourceAmounts: cpu in thousandths. */
export interface ResourceColumn {
  readonly allocatable: Float64Array;
  /** The sum of the requests of the node's pods. */
  readonly used: Float64Array;
}

/** The allocatable resources of each node, and the requests of its pods, assigned and assumed. */
export class UsageTable implements OccupancyTable {
  readonly #cpu = new Column();
  readonly #memory = new Column();
  readonly #ephemeralStorage = new Column();
  readonly #pods = new Column();
  readonly #scoredCpu = new ExactSums();
  readonly #scoredMemory = new ExactSums();
  /** Hugepages and extended resources, while any node or pod mentions them. */
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

  /** How many pods the node may have, and how many it has. */
  get pods(): ResourceColumn {
    return this.#pods;
  }

  /** Undefined if no node offers it and no pod requests it. */
  other(name: string): ResourceColumn | undefined {
    return this.#others.get(name);
  }

  /** Like the used cpu and memory, with a default for containers without requests. */
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

  /** When the node is added or deleted, call this while no pods count on the row. */
  nodeChanged(row: NodeRow, before: NodeRecord | undefined, after: NodeRecord | undefined): void {
    if (before !== undefined && before.allocatable === after?.allocatable) return;
    this.#reserve(row + 1);
    if (before !== undefined) this.#countUsers(allocatableOf(before), -1);
    const amounts = allocatableOf(after);
    this.#countUsers(amounts, 1);
    this.#cpu.allocatable[row] = amounts.cpuMilli;
    this.#memory.allocatable[row] = amounts.memoryBytes;
    this.#ephemeralStorage.allocatable[row] = amounts.ephemeralStorageBytes;
    this.#pods.allocatable[row] = amounts.pods;
    for (const [name, column] of this.#others) column.allocatable[row] = amounts.others.get(name) ?? 0;
  }

  #count(row: NodeRow, { shape }: PodRecord, sign: 1 | -1): void {
    const { requests, scored } = podUsageOf(shape);
    this.#pods.sums.add(row, sign);
    this.#cpu.sums.add(row, sign * requests.cpuMilli);
    this.#memory.sums.add(row, sign * requests.memoryBytes);
    this.#ephemeralStorage.sums.add(row, sign * requests.ephemeralStorageBytes);
    this.#scoredCpu.add(row, sign * scored.cpuMilli);
    this.#scoredMemory.add(row, sign * scored.memoryBytes);
    if (requests.others.size === 0) return;
    if (sign === 1) this.#countUsers(requests, 1);
    for (const [name, amount] of requests.others) this.#others.get(name)!.sums.add(row, sign * amount);
    if (sign === -1) this.#countUsers(requests, -1);
  }

  /** Creates the columns of new resources, and drops the columns without users. */
  #countUsers({ others }: ResourceAmounts, step: 1 | -1): void {
    for (const name of others.keys()) {
      let column = this.#others.get(name);
      if (column === undefined) {
        column = new Column();
        column.reserve(this.#rowCount);
        this.#others.set(name, column);
      }
      column.users += step;
      if (column.users === 0) this.#others.delete(name);
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
  readonly sums = new ExactSums();
  /** How many nodes and pods mention the resource. */
  users = 0;

  get used(): Float64Array {
    return this.sums.values;
  }

  reserve(length: number): void {
    this.allocatable = growColumn(this.allocatable, length);
    this.sums.reserve(length);
  }
}

const nothing = allocatableAmounts({});

/** Parsed once per record instead of once per event. */
const amountsOfRecord = new WeakMap<NodeRecord, AllocatableAmounts>();

/** The allocatable resources of the node; zero if there is no node. */
export function allocatableOf(node: NodeRecord | undefined): AllocatableAmounts {
  if (node === undefined) return nothing;
  let amounts = amountsOfRecord.get(node);
  if (amounts === undefined) {
    amounts = allocatableAmounts(node.allocatable);
    amountsOfRecord.set(node, amounts);
  }
  return amounts;
}
