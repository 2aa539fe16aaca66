import type { PodRecord } from '../../records/pod-record.ts';
import { type DiskUse, exclusiveDisks } from '../../records/pod-shape/exclusive-disks.ts';
import type { NodeRow } from '../nodes/node-table.ts';
import type { OccupancyTable } from '../pods/occupancy.ts';

interface DiskUsers {
  readonly readers: number;
  readonly writers: number;
}

/** For each disk that pods name directly: the nodes whose pods use it, and whether these pods only read it. */
export class ExclusiveDiskTable implements OccupancyTable {
  readonly #byDisk = new Map<string, Map<NodeRow, DiskUsers>>();

  podAdded(row: NodeRow, pod: PodRecord): void {
    for (const use of exclusiveDisks(pod.shape)) this.#count(row, use, 1);
  }

  podRemoved(row: NodeRow, pod: PodRecord): void {
    for (const use of exclusiveDisks(pod.shape)) this.#count(row, use, -1);
  }

  /** The nodes on which another pod can't use the disk in this way. */
  *nodesInConflict({ key, isReadOnly }: DiskUse): Iterable<NodeRow> {
    for (const [row, { writers }] of this.#byDisk.get(key) ?? []) {
      if (!isReadOnly || writers > 0) yield row;
    }
  }

  isInConflict({ key, isReadOnly }: DiskUse, row: NodeRow): boolean {
    const users = this.#byDisk.get(key)?.get(row);
    return users !== undefined && (!isReadOnly || users.writers > 0);
  }

  #count(row: NodeRow, { key, isReadOnly }: DiskUse, step: 1 | -1): void {
    const nodes = this.#byDisk.get(key) ?? new Map<NodeRow, DiskUsers>();
    const { readers, writers } = nodes.get(row) ?? { readers: 0, writers: 0 };
    const now = isReadOnly ? { readers: readers + step, writers } : { readers, writers: writers + step };
    if (now.readers + now.writers > 0) nodes.set(row, now);
    else nodes.delete(row);
    if (nodes.size > 0) this.#byDisk.set(key, nodes);
    else this.#byDisk.delete(key);
  }
}
