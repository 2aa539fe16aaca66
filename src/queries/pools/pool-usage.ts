import type { ClusterIndex } from '../../engine/cluster-index/cluster-index.ts';
import { lookUpInlinePools, lookUpPools } from '../../engine/cluster-index/pools/pool-lookup.ts';
import { expandedId, inlineVolumeId } from '../../engine/cluster-index/pools/promise-ids.ts';
import { isDeducted } from '../../engine/cluster-index/pools/promise-table.ts';
import { publishedCapacity } from '../../engine/cluster-index/pools/published-capacity-reports.ts';
import { possiblePools } from '../../engine/cluster-index/pools/volume-pools.ts';
import type { InlineVolume, PodRecord } from '../../engine/records/pod-record.ts';
import type { PoolRecord } from '../../engine/records/pool-record.ts';
import type { VolumeRecord } from '../../engine/records/volume-record.ts';
import {
  addSizes,
  compareSizes,
  type Size,
  sizeOfBytes,
  subtractSizes,
  zeroSize,
} from '../../engine/size.ts';
import { annotations } from '../../kube/well-known.ts';
import type { ClusterView } from '../view/cluster-view.ts';
import { isUnread } from '../view/unread-kinds.ts';

/**
 * The bytes of the provisioned and inline volumes in each pool. A PersistentVolume does not name its pool: it belongs to the only pool of its
 * class that all of its nodes reach; an inline volume belongs to the only pool of its driver that its node reaches. If several pools are
 * possible, or the size of an inline volume is not known, the used bytes of these pools are unknown. A volume that the pool's capacity report does not
 * include yet counts as promised and not as used, so that used, promised and free add up to the total. A Drive has the ledger of its volumes.
 */
export class PoolUsage {
  readonly #index: ClusterIndex;
  /** Keyed by pool. */
  readonly #used = new Map<string, Size>();
  readonly #usedOfClass = new Map<string, Size>();
  readonly #ambiguous = new Set<string>();
  readonly #isUnread: boolean;

  constructor(view: ClusterView, index: ClusterIndex) {
    this.#index = index;
    this.#isUnread = isUnread(view, 'PersistentVolume');
    for (const volume of index.volumes.records()) {
      const driver = provisionerOf(view, volume);
      if (driver === undefined || this.#isPromised(volume.claim?.claimKey)) continue;
      this.#count(volume, driver);
      addTo(this.#usedOfClass, volume.className, volume.size);
    }
    for (const pod of index.pods.records()) {
      if (pod.nodeName === '' || pod.isFinished) continue;
      for (const volume of pod.inlineVolumes) this.#countInline(pod, volume);
    }
  }

  /** Undefined if it is unknown. */
  used(pool: PoolRecord): Size | undefined {
    const { key, drive } = pool;
    if (drive !== undefined) return sizeOfBytes(drive.usedBytes);
    const drives = this.#drivesBehind(pool);
    if (drives !== undefined)
      return drives.reduce((sum, each) => addSizes(sum, sizeOfBytes(each.drive?.usedBytes ?? 0)), zeroSize);
    if (this.#isUnread || this.#ambiguous.has(key)) return undefined;
    return this.#used.get(key) ?? zeroSize;
  }

  /** The sizes of all volumes that were provisioned for the class; also known if its driver publishes no capacity. */
  usedOfClass(storageClass: string): Size | undefined {
    return this.#isUnread ? undefined : (this.#usedOfClass.get(storageClass) ?? zeroSize);
  }

  /**
   * The free and used bytes of all pools on the same disks. Undefined if the driver does not publish free bytes: a DriverCapacity
   * publishes the largest volume. Also if pools on the same disks publish different reports: then a byte of one is not a byte of another.
   */
  total(pool: PoolRecord): Size | undefined {
    if (pool.drive !== undefined)
      return this.#isDuplicate(pool) ? zeroSize : sizeOfBytes(pool.drive.capacityBytes);
    const free = publishedCapacity(pool);
    if (this.#drivesBehind(pool) !== undefined) return addSizes(free, this.used(pool) ?? zeroSize);
    let total = free;
    for (const each of this.#index.pools.poolsOnSameBacking(pool.key)) {
      const used = this.used(each);
      const isComparable =
        each.form === 'CSIStorageCapacity' && each.free !== undefined && compareSizes(each.free, free) === 0;
      if (used === undefined || !isComparable) return undefined;
      total = addSizes(total, used);
    }
    return total;
  }

  /** The bytes of its filesystem count with another Drive. */
  #isDuplicate({ key }: PoolRecord): boolean {
    const { pools } = this.#index;
    return pools.isDuplicate(pools.row(key)!);
  }

  /**
   * The drives that a CSIStorageCapacity of `drives.stowage.dev` sums up for kube-scheduler: their ledgers have its volumes. Undefined for
   * other pools.
   */
  #drivesBehind({ key, form, storageClass }: PoolRecord): readonly PoolRecord[] | undefined {
    const { pools, classes } = this.#index;
    const driveClass = classes.get(storageClass)?.driveClass;
    if (form !== 'CSIStorageCapacity' || driveClass === undefined || !pools.hasDrives) return undefined;
    const reached = pools.topology(pools.row(key)!).nodes;
    return pools
      .driveEntry(driveClass)
      .rows.filter((row) =>
        pools
          .topology(row)
          .nodes.rows()
          .every((node) => reached.has(node)),
      )
      .map((row) => pools.record(row));
  }

  /** Whether the bytes are deducted from a pool as a promise. */
  #isPromised(id: string | undefined): boolean {
    const promised = id === undefined ? undefined : this.#index.promises.get(id);
    return promised !== undefined && promised.poolKey !== undefined && promised.isInCapacityReport !== true;
  }

  #count(volume: VolumeRecord, driver: string): void {
    this.#add(this.#poolsOf(volume, driver), subtractSizes(volume.size, this.#promisedGrowth(volume)));
  }

  /** The bytes of an expansion that the report does not include yet. */
  #promisedGrowth({ claim }: VolumeRecord): Size {
    const promised = this.#index.promises.get(expandedId(claim?.claimKey ?? ''));
    return promised !== undefined && isDeducted(promised) ? promised.size : zeroSize;
  }

  #countInline({ key, nodeName }: PodRecord, volume: InlineVolume): void {
    const { volumeName, size } = volume;
    const { pools, nodes } = this.#index;
    const found = lookUpInlinePools(this.#index, volume);
    const row = nodes.row(nodeName);
    if (found.kind !== 'pools' || row === undefined || this.#isPromised(inlineVolumeId(key, volumeName)))
      return;
    const near = [...pools.partitionFor(found.entry, nodes.rowCount).itemsAt(row)];
    this.#add(
      near.map((each) => pools.record(each)),
      size,
    );
  }

  #add(pools: readonly PoolRecord[], size: Size | undefined): void {
    const [pool] = pools;
    if (pool === undefined) return;
    if (pools.length > 1 || size === undefined) for (const { key } of pools) this.#ambiguous.add(key);
    else addTo(this.#used, pool.key, size);
  }

  /** The pools that the volume may be in. A volume whose nodes no longer exist is in none. */
  #poolsOf({ key, className }: VolumeRecord, driver: string): readonly PoolRecord[] {
    const { volumes } = this.#index;
    const nodes = volumes.topology(volumes.row(key)!).nodes.rows();
    return possiblePools(this.#index, lookUpPools(this.#index, driver, className), nodes).possible;
  }
}

function addTo(sums: Map<string, Size>, key: string, size: Size): void {
  sums.set(key, addSizes(sums.get(key) ?? zeroSize, size));
}

/** Undefined for a volume that no driver has created: it is not part of a pool. */
function provisionerOf({ snapshot }: ClusterView, { key, csi, migrated }: VolumeRecord): string | undefined {
  const by = snapshot.get('PersistentVolume', key)?.metadata?.annotations?.[annotations.provisionedBy];
  return by === undefined ? undefined : (csi?.driver ?? migrated?.driver ?? by);
}
