import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import type { NodePartition } from '../../cluster-index/nodes/node-partition.ts';
import {
  bytesTaken,
  convertBetweenPools,
  publishedCapacity,
} from '../../cluster-index/pools/published-figures.ts';
import type { InFlightPolicy } from '../../cluster-index/profile.ts';
import type { DriveKind } from '../../drives/drive-ask.ts';
import { growthReserveBytes } from '../../drives/growth-reserve.ts';
import type { PoolRecord } from '../../records/pool-record.ts';
import { addSizes, compareSizes, type Size, sizeOfBytes, subtractSizes, zeroSize } from '../../size.ts';
import type { Cycle } from '../framework/cycle.ts';
import { drawOf } from './drive-draw.ts';
import type { Want } from './needs.ts';
import { type PackingProblem, pack } from './packing.ts';
import type { WorkBudget } from './work-budget.ts';

/** Pools for some wants on one node; `pools[i]` is the pool row of `wants[i]`. */
export type PoolPlan =
  | { readonly kind: 'packed'; readonly pools: readonly number[] }
  | { readonly kind: 'impossible' }
  | { readonly kind: 'unknown' };

/** Free capacity of pools: for one volume on all nodes at once, and for several volumes together on one node. */
export class FreeCapacity {
  readonly #index: ClusterIndex;
  readonly #nowMs: number;
  readonly #onlyRow: number;
  readonly #budget: WorkBudget;
  readonly #columns: (Int32Array | undefined)[] = [];
  readonly #sole: SoleEntry | undefined;

  constructor({ index, nowMs, onlyRow }: Cycle, wants: readonly Want[], budget: WorkBudget) {
    this.#index = index;
    this.#onlyRow = onlyRow;
    this.#budget = budget;
    this.#nowMs = nowMs;
    this.#sole = this.#soleEntry(wants.filter((want) => this.isTracked(want)));
  }

  /** Whether the capacity for the want is tracked. If not, there is always enough. */
  isTracked(want: Want): boolean {
    return want.provisioning !== undefined && want.provisioning.pools.kind !== 'untracked';
  }

  /** For each node, the first pool by name that could hold this want alone, or the drive with the most free bytes; -1 for none. */
  column(want: Want): Int32Array {
    let column = this.#columns[want.position];
    if (column === undefined) {
      column = this.#fillColumn(want);
      this.#columns[want.position] = column;
    }
    return column;
  }

  /** The pools that a node reaches for a want, whatever their free capacity. */
  reachable(want: Want, node: number): readonly number[] {
    const pools = want.provisioning?.pools;
    if (pools?.kind !== 'pools') return [];
    return this.#index.pools.partitionFor(pools.entry, this.#index.nodes.rowCount).itemsAt(node);
  }

  isExpired(row: number): boolean {
    return this.#nowMs >= this.#index.pools.expiry.atMs[row]!;
  }

  /** Whether the pool alone could hold the want. */
  admits(row: number, want: Want): boolean {
    const { policy, spreadGroup } = want.provisioning!;
    if (!this.#admitsSize(row, this.#withReserve(row, want), policy)) return false;
    return spreadGroup === undefined || !this.hasGroup(row, spreadGroup);
  }

  /** Whether the drive has, or is about to get, a volume of the group. */
  hasGroup(row: number, group: string): boolean {
    const { pools } = this.#index;
    const drives = pools.drivesWithGroup(group);
    return drives?.has(pools.record(row).key) === true;
  }

  /** Whether the want would fit on a drive of the node, if the drive had no volume of the same group. */
  isKeptAway(want: Want, node: number): boolean {
    if (want.provisioning?.spreadGroup === undefined) return false;
    const { policy } = want.provisioning;
    return this.reachable(want, node).some((row) =>
      this.#admitsSize(row, this.#withReserve(row, want), policy),
    );
  }

  /** Whether the node has drives, and none of them has the access tier and the labels that the want asks for. */
  isOfOtherKind(want: Want, node: number): boolean {
    return isOnDrives(want) && this.reachable(want, node).length === 0 && this.drivesAt(node).length > 0;
  }

  /** All drives of a node, whatever a class asks for. */
  drivesAt(node: number): readonly number[] {
    const { pools, nodes } = this.#index;
    return pools.partitionFor(pools.driveEntry(anyDrive), nodes.rowCount).itemsAt(node);
  }

  /** The bytes that must be free on the drive: those of the volume, and those that stay free for the growth of others. */
  #withReserve(row: number, want: Want): Size {
    return addSizes(want.size, growthReserveOf(this.#index, want, row));
  }

  #admitsSize(row: number, size: Size, policy: InFlightPolicy): boolean {
    const { pools } = this.#index;
    const limitBytes = pools.limitBytes[row]!;
    if (limitBytes < size.bytes || this.isExpired(row)) return false;
    if (limitBytes === size.bytes && compareSizes(pools.limit(row)!, size) < 0) return false;
    if (policy === 'off') return true;
    if (policy === 'one-at-a-time' && pools.hasPromises(row)) return false;
    return this.#hasCapacity(row, bytesTaken(pools.record(row), size));
  }

  #hasCapacity(row: number, size: Size): boolean {
    const { pools } = this.#index;
    const roomBytes = pools.availableBytes[row]!;
    return (
      roomBytes > size.bytes || (roomBytes === size.bytes && compareSizes(pools.available(row), size) >= 0)
    );
  }

  /**
   * Whether all tracked wants fit together, in the simple case that they all draw on one entry: true if one of its pools that the node
   * reaches can hold them all, false if its only pool can't. Undefined if a search has to decide, as for small volumes that take more than their size.
   */
  fitsOnePool(node: number, wantCount: number): boolean | undefined {
    if (this.#sole === undefined || this.#sole.wantCount !== wantCount) return undefined;
    const { partition, largest, total, policy } = this.#sole;
    const cell = partition.cellOfNode[node]!;
    if (cell < 0) return undefined;
    const first = partition.itemStarts[cell]!;
    const end = partition.itemStarts[cell + 1]!;
    for (let item = first; item < end; item++) {
      const row = partition.items[item]!;
      if (this.#index.pools.record(row).smallest !== undefined) return undefined;
      if (this.#admitsSize(row, largest, policy) && (policy === 'off' || this.#hasCapacity(row, total)))
        return true;
    }
    return end - first === 1 ? false : undefined;
  }

  #soleEntry(tracked: readonly Want[]): SoleEntry | undefined {
    const [first] = tracked;
    const pools = first?.provisioning?.pools;
    if (first === undefined || pools?.kind !== 'pools') return undefined;
    const { policy } = first.provisioning!;
    const isShared = tracked.every(
      ({ provisioning }) =>
        provisioning!.pools.kind === 'pools' &&
        provisioning!.pools.entry === pools.entry &&
        provisioning!.spreadGroup === undefined &&
        provisioning!.growthReservePercent === 0,
    );
    if (!isShared) return undefined;
    const total = tracked.reduce((sum, { size }) => addSizes(sum, size), zeroSize);
    const partition = this.#index.pools.partitionFor(pools.entry, this.#index.nodes.rowCount);
    const largest = tracked.reduce(
      (most, { size }) => (compareSizes(size, most) > 0 ? size : most),
      zeroSize,
    );
    return { wantCount: tracked.length, partition, largest, total, policy };
  }

  /** Assigns all of these wants to pools that the node reaches. */
  packAt(node: number, wants: readonly Want[], budget: WorkBudget = this.#budget): PoolPlan {
    const tracked = wants.filter((want) => this.isTracked(want));
    const bins = this.#bins(node, tracked);
    const order = tracked
      .map((_, item) => item)
      .sort((a, b) => compareSizes(tracked[b]!.size, tracked[a]!.size) || a - b);
    const packing = pack(this.#problem(tracked, bins, budget), order);
    if (packing.kind !== 'packed') return packing;
    const rowOf = new Map(tracked.map((want, item) => [want, bins[packing.binOf[item]!]!.rowOf.get(want)!]));
    return { kind: 'packed', pools: wants.map((want) => rowOf.get(want) ?? -1) };
  }

  #fillColumn(want: Want): Int32Array {
    const column = this.#index.scratch.ints(`pool column ${want.position}`, this.#index.nodes.rowCount, -1);
    const pools = want.provisioning?.pools;
    if (pools?.kind !== 'pools') return column;
    const partition = this.#index.pools.partitionFor(pools.entry, this.#index.nodes.rowCount);
    const [firstCell, endCell] = partition.cellRange(this.#onlyRow);
    for (let cell = firstCell; cell < endCell; cell++) {
      const end = partition.itemStarts[cell + 1]!;
      let item = partition.itemStarts[cell]!;
      while (item < end && !this.admits(partition.items[item]!, want)) item += 1;
      if (item === end) continue;
      let row = partition.items[item]!;
      if (pools.entry.isOfDrives)
        for (; item < end; item++) row = this.#roomier(row, partition.items[item]!, want);
      for (let node = partition.nodeStarts[cell]!; node < partition.nodeStarts[cell + 1]!; node++)
        column[partition.nodes[node]!] = row;
    }
    return column;
  }

  #roomier(row: number, other: number, want: Want): number {
    const { pools } = this.#index;
    const hasMore = compareSizes(pools.available(other), pools.available(row)) > 0;
    return hasMore && this.admits(other, want) ? other : row;
  }

  /**
   * The pools that the want may use on the node. Of drives, as many as there are wants are enough, those with the most free bytes: if a
   * solution uses another drive for the want, one of these is empty in it, and takes the want as well. Equal drives have the same order for
   * all wants of the pod, so that together they use few drives.
   */
  #usable(want: Want, node: number, wants: readonly Want[]): readonly number[] {
    const rows = this.reachable(want, node);
    if (!isOnDrives(want) || rows.length <= wants.length) return rows;
    const { pools } = this.#index;
    return rows
      .filter((row) => this.admits(row, want))
      .map((row) => ({ row, draw: drawOf(wants[0]!, pools.record(row).key) }))
      .sort((a, b) => compareSizes(pools.available(b.row), pools.available(a.row)) || a.draw - b.draw)
      .slice(0, wants.length)
      .map(({ row }) => row);
  }

  /** A new volume goes on the drive with the most free bytes; of equal ones each is as likely. Other pools are tried by name. */
  #binsFor(want: Want, bins: readonly Bin[], taken: readonly (readonly Want[])[]): readonly number[] {
    const all = bins.map((_, bin) => bin);
    if (!isOnDrives(want)) return all;
    const { pools } = this.#index;
    const ranked = all.flatMap((bin) => {
      const row = bins[bin]!.rowOf.get(want);
      if (row === undefined) return [];
      const left = taken[bin]!.reduce((room, { size }) => subtractSizes(room, size), pools.available(row));
      return [{ bin, left, draw: drawOf(want, bins[bin]!.backing) }];
    });
    return ranked.sort((a, b) => compareSizes(b.left, a.left) || a.draw - b.draw).map(({ bin }) => bin);
  }

  /** Pools with the same backing form one bin, because classes that share it compete for its capacity. */
  #bins(node: number, wants: readonly Want[]): Bin[] {
    const bins = new Map<string, Bin>();
    for (const want of wants) {
      for (const row of this.#usable(want, node, wants)) {
        const { backing } = this.#index.pools.record(row);
        let bin = bins.get(backing);
        if (bin === undefined) {
          bin = { backing, rowOf: new Map() };
          bins.set(backing, bin);
        }
        if (this.admits(row, want)) bin.rowOf.set(want, this.#cheaper(bin.rowOf.get(want), row));
      }
    }
    return [...bins.values()].sort((a, b) => (a.backing < b.backing ? -1 : 1));
  }

  /** Of two pools of one class on the same disks, a byte costs less in the pool that publishes more. */
  #cheaper(known: number | undefined, row: number): number {
    if (known === undefined) return row;
    const { pools } = this.#index;
    return compareSizes(publishedCapacity(pools.record(row)), publishedCapacity(pools.record(known))) > 0
      ? row
      : known;
  }

  #problem(wants: readonly Want[], bins: readonly Bin[], budget: WorkBudget): PackingProblem {
    return {
      itemCount: wants.length,
      binCount: bins.length,
      budget,
      fits: (bin, items) =>
        this.#fitsTogether(
          bins[bin]!,
          items.map((item) => wants[item]!),
        ),
      binsFor: (item, contents) =>
        this.#binsFor(
          wants[item]!,
          bins,
          contents.map((items) => items.map((other) => wants[other]!)),
        ),
    };
  }

  #fitsTogether({ rowOf }: Bin, wants: readonly Want[]): boolean {
    const taken = new Map<number, Size>();
    const groups = new Set<string>();
    for (const want of wants) {
      const row = rowOf.get(want);
      if (row === undefined || !this.admits(row, want)) return false;
      const { spreadGroup } = want.provisioning!;
      if (spreadGroup !== undefined && groups.has(spreadGroup)) return false;
      if (spreadGroup !== undefined) groups.add(spreadGroup);
      if (want.provisioning!.policy === 'off') continue;
      const size = bytesTaken(this.#index.pools.record(row), want.size);
      taken.set(row, addSizes(taken.get(row) ?? zeroSize, size));
    }
    // A drive is a bin of its own, so that its reserve counts once: the largest that one of the volumes asks for.
    for (const row of taken.keys()) {
      const reserve = wants.reduce(
        (most, want) => largerOf(most, growthReserveOf(this.#index, want, row)),
        zeroSize,
      );
      if (!this.#hasCapacityForAll(row, taken, reserve)) return false;
    }
    return true;
  }

  /** `taken` has bytes by pool of one backing; they are converted into the bytes of the pool in `row`. */
  #hasCapacityForAll(row: number, taken: ReadonlyMap<number, Size>, reserve: Size): boolean {
    const { pools } = this.#index;
    const record: PoolRecord = pools.record(row);
    let needed = reserve;
    for (const [other, size] of taken)
      needed = addSizes(needed, convertBetweenPools(size, pools.record(other), record));
    return this.#hasCapacity(row, needed);
  }
}

/** The bytes of the pool that stay free beside the volume, if the pool is a drive and the policy of the claim says so. */
export function growthReserveOf({ pools }: ClusterIndex, { provisioning }: Want, row: number): Size {
  const percent = provisioning?.growthReservePercent ?? 0;
  if (percent === 0) return zeroSize;
  return sizeOfBytes(growthReserveBytes(pools.record(row).drive?.capacityBytes ?? 0, percent));
}

function largerOf(a: Size, b: Size): Size {
  return compareSizes(a, b) >= 0 ? a : b;
}

/** The want as a class without `spreadBy` would have it. */
export function withoutGroup(want: Want): Want {
  return want.provisioning === undefined
    ? want
    : { ...want, provisioning: { ...want.provisioning, spreadGroup: undefined } };
}

const anyDrive: DriveKind = { labels: {} };

function isOnDrives({ provisioning }: Want): boolean {
  return provisioning?.pools.kind === 'pools' && provisioning.pools.entry.isOfDrives;
}

/** The only entry that all tracked wants draw on, and what they need of it together. */
interface SoleEntry {
  readonly wantCount: number;
  readonly partition: NodePartition;
  readonly largest: Size;
  readonly total: Size;
  readonly policy: InFlightPolicy;
}

interface Bin {
  readonly backing: string;
  readonly rowOf: Map<Want, number>;
}
