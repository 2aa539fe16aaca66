import type { DriverPoolsRecord, PoolRecord } from '../records/pool-record.ts';
import { compareSizes, type Size } from '../size.ts';

/** A pool that was added, changed or removed. */
export interface PoolChange {
  readonly before: PoolRecord | undefined;
  readonly after: PoolRecord | undefined;
}

/** The effect of an update of a DriverCapacity on its driver, over all objects of the driver. */
export interface EntriesDifference {
  /** Classes for which the driver has an entry now and had none before, or the reverse. */
  readonly entries: readonly string[];
  /** The first object that tracks the driver's capacity has come, or the last one has gone. */
  readonly changesTracking: boolean;
}

/** The difference between two versions of a DriverCapacity. */
export interface DriverPoolsDifference extends EntriesDifference {
  readonly pools: readonly PoolChange[];
}

/** The pools whose records differ. An unchanged pool has the same record in both versions. */
export function differingPools(
  before: DriverPoolsRecord | undefined,
  after: DriverPoolsRecord | undefined,
): PoolChange[] {
  const isSameDriver = before?.driver === after?.driver;
  const changes: PoolChange[] = [];
  for (const [storageClass, pools] of after?.entries ?? noEntries) {
    const former = isSameDriver ? before?.entries.get(storageClass) : undefined;
    for (const [name, pool] of pools) {
      const known = former?.get(name);
      if (known !== pool) changes.push({ before: known, after: pool });
    }
  }
  for (const [storageClass, pools] of before?.entries ?? noEntries) {
    const left = isSameDriver ? after?.entries.get(storageClass) : undefined;
    for (const [name, pool] of pools)
      if (left?.has(name) !== true) changes.push({ before: pool, after: undefined });
  }
  return changes;
}

const noEntries: DriverPoolsRecord['entries'] = new Map();

/** The driver was asked again, or the capacity report differs. An expiry that was only renewed is not a new report. */
export function hasNewCapacityReport({ before, after }: PoolChange): boolean {
  if (before === undefined || after === undefined) return true;
  return (
    before.measuredAtMs !== after.measuredAtMs ||
    !isSameSize(before.free, after.free) ||
    !isSameSize(before.largest, after.largest)
  );
}

function isSameSize(a: Size | undefined, b: Size | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return compareSizes(a, b) === 0;
}
