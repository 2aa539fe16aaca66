import { ephemeralStorageClassName } from '../../../kube/stowage.ts';
import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import type { PoolChange } from '../../cluster-index/pool-changes.ts';
import type { PoolTable } from '../../cluster-index/pools/pool-table.ts';
import { publishedCapacity, publishedLimit } from '../../cluster-index/pools/published-figures.ts';
import type { PoolRecord } from '../../records/pool-record.ts';
import { compareSizes, type Size } from '../../size.ts';
import type { Interest } from '../framework/rule.ts';
import { driveMayServe } from './drive-wakes.ts';

/**
 * Whether a volume of the pod could come from the pool: the pool serves one of its classes, or its inline volumes, and is large enough for
 * the smallest of them. A pool of another class never helps, whatever happens to it.
 */
export function mayServe(interest: Interest, pool: PoolRecord, index: ClusterIndex): boolean {
  if (pool.drive !== undefined) return driveMayServe(interest, pool, index);
  const limitBytes = publishedLimit(pool)?.bytes ?? -1;
  const { driver, storageClass } = pool;
  if (driver === undefined) return limitBytes >= (interest.classes.get(storageClass) ?? Infinity);
  if (!interest.drivers.has(driver)) return false;
  for (const [name, smallest] of smallestOfDriver(interest, driver))
    if (limitBytes >= smallest && index.pools.driverEntryName(driver, name) === storageClass) return true;
  return false;
}

/** The classes that the pod's volumes of the driver have (`<ephemeral>` for inline volumes), with the smallest volume of each. */
export function smallestOfDriver({ classes, pod }: Interest, driver: string): ReadonlyMap<string, number> {
  const inline = pod.inlineVolumes.flatMap((volume) =>
    volume.driver === driver && volume.size !== undefined ? [volume.size.bytes] : [],
  );
  return inline.length === 0
    ? classes
    : new Map([...classes, [ephemeralStorageClassName, Math.min(...inline)] as const]);
}

/** The pools that may serve more volumes after the change: the changed pool itself, and others on the same disks. */
export function gainingPools(change: PoolChange, pools: PoolTable): readonly PoolRecord[] {
  const { before, after } = change;
  const others = cheaperBackings(change).flatMap((backing) => pools.poolsOnBacking(backing));
  if (after === undefined || others.includes(after)) return others;
  return before === undefined || hasGrown(before, after) ? [...others, after] : others;
}

/**
 * Disks that several classes share, where promises of one class may cost the others less: its pool grew, or its figure no longer counts
 * because the pool has gone or publishes nothing.
 */
function cheaperBackings({ before, after }: PoolChange): readonly string[] {
  if (before === undefined) return [];
  const isCheaper =
    after === undefined ||
    after.backing !== before.backing ||
    hasGrown(before, after) ||
    isEmptied(before, after);
  return isCheaper ? [before.backing] : [];
}

function hasGrown(before: PoolRecord, after: PoolRecord): boolean {
  if (before.nodes.key !== after.nodes.key || before.storageClass !== after.storageClass) return true;
  if (before.isTracked !== after.isTracked) return true;
  return (
    isLarger(publishedLimit(after), publishedLimit(before)) ||
    isLarger(publishedCapacity(after), publishedCapacity(before))
  );
}

/** A pool without a figure provisions nothing. */
function isLarger(after: Size | undefined, before: Size | undefined): boolean {
  if (after === undefined || before === undefined) return after !== undefined && before === undefined;
  return compareSizes(after, before) > 0;
}

function isEmptied(before: PoolRecord, after: PoolRecord): boolean {
  return publishedCapacity(after).bytes <= 0 && publishedCapacity(before).bytes > 0;
}
