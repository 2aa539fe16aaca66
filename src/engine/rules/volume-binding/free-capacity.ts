import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import type { NodePartition } from '../../cluster-index/nodes/node-partition.ts';
import {
  bytesTaken,
  convertBetweenPools,
  publishedCapacity,
} from '../../cluster-index/pools/published-capacity-reports.ts';
import type { InFlightPolicy } from '../../cluster-index/profile.ts';
import type { DriveKind } from '../../drives/drive-requirements.ts';
import { compareFreeBytes, growthReserveBytes, obstacleOn } from '../../drives/drive-rule.ts';
import type { PoolRecord } from '../../records/pool-record.ts';
import {
  addSizes,
  compareSizes,
  type Size,
  sizeOfBytes,
  subtractSizes,
  wholeBytesOf,
  zeroSize,
} from '../../size.ts';
import type { Cycle } from '../framework/cycle.ts';
import type { ClaimRequest, VolumeProvisioning } from './needs.ts';
import { type PackingProblem, pack } from './packing.ts';
import { PoolDrive, tieBreakRank } from './pool-drive.ts';
import type { WorkBudget } from './work-budget.ts';

/** Pools for some requests on one node; `pools[i]` is the pool row of `requests[i]`. */
export type PoolPlan =
  | { readonly kind: 'packed'; readonly pools: readonly number[] }
  | { readonly kind: 'impossible' }
  | { readonly kind: 'unknown' };

/** Free capacity of pools: for one volume on all nodes together, and for several volumes together on one node. */
export class FreeCapacity {
  readonly #index: ClusterIndex;
  readonly #nowMs: number;
  readonly #onlyRow: number;
  readonly #budget: WorkBudget;
  readonly #columns: (Int32Array | undefined)[] = [];
  readonly #sole: SoleEntry | undefined;
  readonly #drive: PoolDrive;

  constructor({ index, nowMs, onlyRow }: Cycle, requests: readonly ClaimRequest[], budget: WorkBudget) {
    this.#index = index;
    this.#onlyRow = onlyRow;
    this.#budget = budget;
    this.#nowMs = nowMs;
    this.#drive = new PoolDrive(index.pools);
    this.#sole = this.#soleEntry(requests.filter((request) => this.isTracked(request)));
  }

  /** Whether the capacity for the request is tracked. If not, there is always enough. */
  isTracked(request: ClaimRequest): boolean {
    return request.provisioning !== undefined && request.provisioning.pools.kind !== 'untracked';
  }

  /** For each node, the first pool by name that could hold this request alone, or the drive with the most free bytes; -1 for none. */
  column(request: ClaimRequest): Int32Array {
    let column = this.#columns[request.position];
    if (column === undefined) {
      column = this.#fillColumn(request);
      this.#columns[request.position] = column;
    }
    return column;
  }

  /** The pools that a node reaches for a request, whatever their free capacity. */
  reachable(request: ClaimRequest, node: number): readonly number[] {
    const pools = request.provisioning?.pools;
    if (pools?.kind !== 'pools') return [];
    return this.#index.pools.partitionFor(pools.entry, this.#index.nodes.rowCount).itemsAt(node);
  }

  isExpired(row: number): boolean {
    return this.#nowMs >= this.#index.pools.expiry.atMs[row]!;
  }

  /** Whether the pool alone could hold the request. */
  admits(row: number, request: ClaimRequest): boolean {
    return this.#admits(row, request.size, request.provisioning!);
  }

  /** Whether the drive has, or is about to get, a volume of the group. */
  hasGroup(row: number, group: string): boolean {
    return this.#drive.at(row, 'linear').hasGroup(group);
  }

  /** Whether the request would fit on a drive of the node, if the drive had no volume of the same group. */
  isKeptAway(request: ClaimRequest, node: number): boolean {
    if (request.provisioning?.spreadGroup === undefined) return false;
    const provisioning = { ...request.provisioning, spreadGroup: undefined };
    return this.reachable(request, node).some((row) => this.#admits(row, request.size, provisioning));
  }

  /** Whether the node has drives, and none of them has the access tier and the labels that the request asks for. */
  isOfOtherKind(request: ClaimRequest, node: number): boolean {
    return (
      isOnDrives(request) && this.reachable(request, node).length === 0 && this.drivesAt(node).length > 0
    );
  }

  /** All drives of a node, whatever a class asks for. */
  drivesAt(node: number): readonly number[] {
    const { pools, nodes } = this.#index;
    return pools.partitionFor(pools.driveEntry(anyDrive), nodes.rowCount).itemsAt(node);
  }

  #admits(row: number, size: Size, provisioning: VolumeProvisioning): boolean {
    const { pools } = this.#index;
    if (pools.record(row).drive === undefined) return this.#poolAdmits(row, size, provisioning.policy);
    const { policy } = provisioning;
    if (policy === 'one-at-a-time' && pools.hasPromises(row)) return false;
    return obstacleOn(this.#drive.at(row, policy), wholeBytesOf(size), provisioning) === undefined;
  }

  #poolAdmits(row: number, size: Size, policy: InFlightPolicy): boolean {
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
   * Whether all tracked requests fit together, in the simple case that they all draw on one entry: true if one of its pools that the node
   * reaches can hold them all, false if its only pool can't. Undefined if a search has to decide, as for small volumes that take more than their size.
   */
  fitsOnePool(node: number, wantCount: number): boolean | undefined {
    if (this.#sole === undefined || this.#sole.wantCount !== wantCount) return undefined;
    const { partition, largest, total, provisioning } = this.#sole;
    const cell = partition.cellOfNode[node]!;
    if (cell < 0) return undefined;
    const first = partition.itemStarts[cell]!;
    const end = partition.itemStarts[cell + 1]!;
    for (let item = first; item < end; item++) {
      const row = partition.items[item]!;
      if (this.#index.pools.record(row).smallest !== undefined) return undefined;
      if (!this.#admits(row, largest, provisioning)) continue;
      if (provisioning.policy === 'off' || this.#hasCapacity(row, total)) return true;
    }
    return end - first === 1 ? false : undefined;
  }

  #soleEntry(tracked: readonly ClaimRequest[]): SoleEntry | undefined {
    const [first] = tracked;
    const pools = first?.provisioning?.pools;
    if (first === undefined || pools?.kind !== 'pools') return undefined;
    const isShared = tracked.every(
      ({ provisioning }) =>
        provisioning!.pools.kind === 'pools' &&
        provisioning!.pools.entry === pools.entry &&
        provisioning!.spreadGroup === undefined &&
        (provisioning!.growthReservePercent ?? 0) === 0,
    );
    if (!isShared) return undefined;
    const total = tracked.reduce((sum, { size }) => addSizes(sum, size), zeroSize);
    const partition = this.#index.pools.partitionFor(pools.entry, this.#index.nodes.rowCount);
    const largest = tracked.reduce(
      (most, { size }) => (compareSizes(size, most) > 0 ? size : most),
      zeroSize,
    );
    return { wantCount: tracked.length, partition, largest, total, provisioning: first.provisioning! };
  }

  /** Assigns all of these requests to pools that the node reaches. */
  packAt(node: number, requests: readonly ClaimRequest[], budget: WorkBudget = this.#budget): PoolPlan {
    const tracked = requests.filter((request) => this.isTracked(request));
    const bins = this.#bins(node, tracked);
    const order = tracked
      .map((_, item) => item)
      .sort((a, b) => compareSizes(tracked[b]!.size, tracked[a]!.size) || a - b);
    const packing = pack(this.#problem(tracked, bins, budget), order);
    if (packing.kind !== 'packed') return packing;
    const rowOf = new Map(
      tracked.map((request, item) => [request, bins[packing.binOf[item]!]!.rowOf.get(request)!]),
    );
    return { kind: 'packed', pools: requests.map((request) => rowOf.get(request) ?? -1) };
  }

  #fillColumn(request: ClaimRequest): Int32Array {
    const column = this.#index.scratch.ints(
      `pool column ${request.position}`,
      this.#index.nodes.rowCount,
      -1,
    );
    const pools = request.provisioning?.pools;
    if (pools?.kind !== 'pools') return column;
    const partition = this.#index.pools.partitionFor(pools.entry, this.#index.nodes.rowCount);
    const [firstCell, endCell] = partition.cellRange(this.#onlyRow);
    for (let cell = firstCell; cell < endCell; cell++) {
      const end = partition.itemStarts[cell + 1]!;
      let item = partition.itemStarts[cell]!;
      while (item < end && !this.admits(partition.items[item]!, request)) item += 1;
      if (item === end) continue;
      let row = partition.items[item]!;
      if (pools.entry.isOfDrives)
        for (; item < end; item++) row = this.#betterDrive(row, partition.items[item]!, request);
      for (let node = partition.nodeStarts[cell]!; node < partition.nodeStarts[cell + 1]!; node++)
        column[partition.nodes[node]!] = row;
    }
    return column;
  }

  #betterDrive(row: number, other: number, request: ClaimRequest): number {
    const { pools } = this.#index;
    const isBetter = compareFreeBytes(pools.availableBytes[other]!, pools.availableBytes[row]!) < 0;
    return isBetter && this.admits(other, request) ? other : row;
  }

  /**
   * The pools that the request may use on the node. Of drives, as many as there are requests are enough, those with the most free bytes: if a
   * solution uses another drive for the request, one of these is empty in it, and takes the request as well. Equal drives have the same order for
   * all requests of the pod, so that together they use few drives.
   */
  #usable(request: ClaimRequest, node: number, requests: readonly ClaimRequest[]): readonly number[] {
    const rows = this.reachable(request, node);
    if (!isOnDrives(request) || rows.length <= requests.length) return rows;
    const { pools } = this.#index;
    return rows
      .filter((row) => this.admits(row, request))
      .map((row) => ({ row, draw: tieBreakRank(requests[0]!, pools.record(row).key) }))
      .sort(
        (a, b) =>
          compareFreeBytes(pools.availableBytes[a.row]!, pools.availableBytes[b.row]!) || a.draw - b.draw,
      )
      .slice(0, requests.length)
      .map(({ row }) => row);
  }

  /** A new volume goes on the drive with the most free bytes; of equal ones each is as likely. Other pools are tried by name. */
  #binsFor(
    request: ClaimRequest,
    bins: readonly Bin[],
    taken: readonly (readonly ClaimRequest[])[],
  ): readonly number[] {
    const all = bins.map((_, bin) => bin);
    if (!isOnDrives(request)) return all;
    const { pools } = this.#index;
    const ranked = all.flatMap((bin) => {
      const row = bins[bin]!.rowOf.get(request);
      if (row === undefined) return [];
      const left = taken[bin]!.reduce((room, { size }) => subtractSizes(room, size), pools.available(row));
      return [{ bin, left: left.bytes, draw: tieBreakRank(request, bins[bin]!.backing) }];
    });
    return ranked.sort((a, b) => compareFreeBytes(a.left, b.left) || a.draw - b.draw).map(({ bin }) => bin);
  }

  /** Pools with the same backing form one bin, because classes that share it compete for its capacity. */
  #bins(node: number, requests: readonly ClaimRequest[]): Bin[] {
    const bins = new Map<string, Bin>();
    for (const request of requests) {
      for (const row of this.#usable(request, node, requests)) {
        const { backing } = this.#index.pools.record(row);
        let bin = bins.get(backing);
        if (bin === undefined) {
          bin = { backing, rowOf: new Map() };
          bins.set(backing, bin);
        }
        if (this.admits(row, request)) bin.rowOf.set(request, this.#cheaper(bin.rowOf.get(request), row));
      }
    }
    return [...bins.values()].sort((a, b) => (a.backing < b.backing ? -1 : 1));
  }

  /** A byte costs less in the pool that publishes more, if two pools of one class are on the same disks. */
  #cheaper(known: number | undefined, row: number): number {
    if (known === undefined) return row;
    const { pools } = this.#index;
    return compareSizes(publishedCapacity(pools.record(row)), publishedCapacity(pools.record(known))) > 0
      ? row
      : known;
  }

  #problem(requests: readonly ClaimRequest[], bins: readonly Bin[], budget: WorkBudget): PackingProblem {
    return {
      itemCount: requests.length,
      binCount: bins.length,
      budget,
      fits: (bin, items) =>
        this.#fitsTogether(
          bins[bin]!,
          items.map((item) => requests[item]!),
        ),
      binsFor: (item, contents) =>
        this.#binsFor(
          requests[item]!,
          bins,
          contents.map((items) => items.map((other) => requests[other]!)),
        ),
    };
  }

  #fitsTogether({ rowOf }: Bin, requests: readonly ClaimRequest[]): boolean {
    const taken = new Map<number, Size>();
    const groups = new Set<string>();
    for (const request of requests) {
      const row = rowOf.get(request);
      if (row === undefined || !this.admits(row, request)) return false;
      const { spreadGroup } = request.provisioning!;
      if (spreadGroup !== undefined && groups.has(spreadGroup)) return false;
      if (spreadGroup !== undefined) groups.add(spreadGroup);
      if (request.provisioning!.policy === 'off') continue;
      const size = bytesTaken(this.#index.pools.record(row), request.size);
      taken.set(row, addSizes(taken.get(row) ?? zeroSize, size));
    }
    // Each drive is one bin, so that its reserve counts once: the largest that one of the volumes asks for.
    for (const row of taken.keys()) {
      const reserve = requests.reduce(
        (most, request) => largerOf(most, growthReserveOf(this.#index, request, row)),
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
export function growthReserveOf({ pools }: ClusterIndex, { provisioning }: ClaimRequest, row: number): Size {
  const percent = provisioning?.growthReservePercent ?? 0;
  if (percent === 0) return zeroSize;
  return sizeOfBytes(growthReserveBytes(pools.record(row).drive?.capacityBytes ?? 0, percent));
}

function largerOf(a: Size, b: Size): Size {
  return compareSizes(a, b) >= 0 ? a : b;
}

/** The request as a class without `spreadBy` would have it. */
export function withoutGroup(request: ClaimRequest): ClaimRequest {
  return request.provisioning === undefined
    ? request
    : { ...request, provisioning: { ...request.provisioning, spreadGroup: undefined } };
}

const anyDrive: DriveKind = { labels: {} };

function isOnDrives({ provisioning }: ClaimRequest): boolean {
  return provisioning?.pools.kind === 'pools' && provisioning.pools.entry.isOfDrives;
}

/** The only entry that all tracked requests draw on, and what they need of it together. */
interface SoleEntry {
  readonly wantCount: number;
  readonly partition: NodePartition;
  readonly largest: Size;
  readonly total: Size;
  /** That of the first request; all have the same policy, and none has conditions for its drive. */
  readonly provisioning: VolumeProvisioning;
}

interface Bin {
  readonly backing: string;
  readonly rowOf: Map<ClaimRequest, number>;
}
