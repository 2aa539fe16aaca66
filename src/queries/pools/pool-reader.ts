import type { ClusterIndex } from '../../engine/cluster-index/cluster-index.ts';
import type { DriveExclusion } from '../../engine/drives/drive-record.ts';
import type { PoolForm, PoolRecord } from '../../engine/records/pool-record.ts';
import { compareSizes, type Size, subtractSizes, zeroSize } from '../../engine/size.ts';
import type { ClusterView } from '../view/cluster-view.ts';
import { quantityText } from './amounts.ts';
import { type CapacityReportSource, capacityReportSource } from './capacity-report-source.ts';
import { PoolUsage } from './pool-usage.ts';
import { type Reach, ReachReader } from './reach.ts';

/** The published capacity of a pool, less what has been promised of it. */
export interface PoolCapacity {
  readonly pool: string;
  readonly source: PoolForm;
  readonly driver: string | undefined;
  /** `<drives>` for a Drive, which serves every class that accepts it. */
  readonly storageClass: string;
  readonly reach: Reach;
  /** Undefined if the driver published no number; that counts as no capacity. */
  readonly reported: string | undefined;
  /**
   * The sizes of the known volumes in the pool, inline volumes included, as far as the capacity report includes them; undefined if it is unknown which
   * volumes are in it.
   */
  readonly used?: string | undefined;
  /** `reported`, `used`, and what pools on the same disks use; undefined if one of them is unknown, or `reported` is not what is free. */
  readonly total?: string | undefined;
  /** Promised to claims and inline volumes that the report does not include, by this pool and by pools on the same disks. */
  readonly promised: string;
  /** Negative if more has been promised than is available. */
  readonly free: string;
  readonly largestVolume: string;
  /** True if its reports have expired. */
  readonly isExpired: boolean;
  /** True if its DriverCapacity has no CSIDriver of the same name: the driver may be gone, and its reports may be old. */
  readonly isOrphaned: boolean;
  /** When the driver was asked for the report, or else when the object was last written. */
  readonly measuredAt?: string | undefined;
  readonly measuredAtFrom?: 'measurement' | 'write' | undefined;
  /** The label `csi.storage.k8s.io/managed-by`; without it, the manager of the object's fields that were written last. */
  readonly publishedBy?: string | undefined;
  /** Whether the publisher runs; undefined if that is unknown. */
  readonly publisher?: CapacityReportSource['publisher'];
  /** For a Drive: `Ready`, or why it takes no new volumes. */
  readonly state?: DriveExclusion | 'Ready' | undefined;
  /** Other pools on the same disks. */
  readonly sharesWith: readonly string[];
}

/** Where other pools have a class or one of the placeholders of a DriverCapacity. */
const drivesClass = '<drives>';

/** Reads pools as all commands show them. */
export class PoolReader {
  readonly reaches: ReachReader;
  readonly usage: PoolUsage;
  readonly #index: ClusterIndex;
  readonly #nowMs: number;
  readonly #isOrphan: (pool: PoolRecord) => boolean;
  readonly #sourceOf: (pool: PoolRecord) => CapacityReportSource;

  constructor(view: ClusterView, index: ClusterIndex, nowMs: number) {
    this.reaches = new ReachReader(index);
    this.usage = new PoolUsage(view, index);
    this.#index = index;
    this.#nowMs = nowMs;
    this.#isOrphan = orphanCheck(view);
    this.#sourceOf = (pool) => capacityReportSource(view, pool, nowMs);
  }

  /** All pools, by class and name. */
  all(): readonly PoolCapacity[] {
    const order = ({ storageClass, pool }: PoolCapacity) => `${storageClass} ${pool}`;
    return [...this.#index.pools.records()]
      .map((pool) => this.read(pool))
      .sort((a, b) => (order(a) < order(b) ? -1 : 1));
  }

  read(pool: PoolRecord): PoolCapacity {
    const { pools } = this.#index;
    const { key, name, form, driver, storageClass, drive } = pool;
    const row = pools.row(key)!;
    const reported = pools.capacity(row);
    const isExpired = this.isExpired(pool);
    const used = this.usage.used(pool);
    const total = isExpired ? undefined : this.usage.total(pool);
    return {
      pool: name,
      source: form,
      driver,
      storageClass: drive === undefined ? storageClass : drivesClass,
      reach: this.reaches.of(pools.topology(row)),
      reported: pool.free === undefined && pool.largest === undefined ? undefined : quantityText(reported),
      used: used && quantityText(used),
      total: total && quantityText(total),
      promised: quantityText(subtractSizes(reported, this.free(pool))),
      free: quantityText(this.free(pool)),
      largestVolume: quantityText(isExpired ? zeroSize : this.largestVolume(pool)),
      isExpired,
      // The ledger of a drive never becomes stale, unlike a report.
      isOrphaned: drive === undefined && this.#isOrphan(pool),
      ...this.#sourceOf(pool),
      ...(drive !== undefined && { state: pools.exclusion(row) ?? 'Ready' }),
      sharesWith: pools
        .poolsOnSameBacking(key)
        .filter((other) => other !== pool)
        .map((other) => `${other.name} (${other.storageClass})`)
        .sort(),
    };
  }

  isExpired({ key }: PoolRecord): boolean {
    const { pools } = this.#index;
    return pools.expiry.atMs[pools.row(key)!]! <= this.#nowMs;
  }

  /** The free bytes after all promises; may be negative. */
  free({ key }: PoolRecord): Size {
    return this.#index.pools.available(this.#index.pools.row(key)!);
  }

  /** The value that plans compare: a volume must fit both the limit of a single volume and the free capacity. */
  largestVolume(pool: PoolRecord): Size {
    const limit = this.#index.pools.limit(this.#index.pools.row(pool.key)!) ?? zeroSize;
    const free = this.free(pool);
    return atLeastZero(compareSizes(limit, free) < 0 ? limit : free);
  }
}

export function atLeastZero(size: Size): Size {
  return compareSizes(size, zeroSize) < 0 ? zeroSize : size;
}

/** A check whether the driver of a DriverCapacity is known not to exist. */
function orphanCheck(view: ClusterView): (pool: PoolRecord) => boolean {
  const { snapshot, unseen = [], isFromFiles = false } = view;
  const isUnseen = unseen.some(({ kind }) => kind === 'CSIDriver');
  // Files without any CSIDriver say nothing about drivers.
  if (isUnseen || (isFromFiles && snapshot.count('CSIDriver') === 0)) return () => false;
  return ({ driver }) => driver !== undefined && snapshot.get('CSIDriver', driver) === undefined;
}
