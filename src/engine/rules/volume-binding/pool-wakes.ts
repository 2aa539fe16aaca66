import {
  ephemeralStorageClassName,
  fallbackStorageClassName,
} from '../../../kube/stowage/driver-capacity.ts';
import type { DriverPoolsChange } from '../../cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import type { PoolChange } from '../../cluster-index/pool-changes.ts';
import type { PoolTable } from '../../cluster-index/pools/pool-table.ts';
import { publishedCapacity, publishedLimit } from '../../cluster-index/pools/published-capacity-reports.ts';
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
function smallestOfDriver({ classes, pod }: Interest, driver: string): ReadonlyMap<string, number> {
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
 * Disks that several classes share, where promises of one class may cost the others less: its pool grew, or its capacity report no longer counts
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
    isLarger(before.smallest, after.smallest) ||
    isLarger(publishedLimit(after), publishedLimit(before)) ||
    isLarger(publishedCapacity(after), publishedCapacity(before))
  );
}

/** A pool without a report provisions nothing. */
function isLarger(after: Size | undefined, before: Size | undefined): boolean {
  if (after === undefined || before === undefined) return after !== undefined && before === undefined;
  return compareSizes(after, before) > 0;
}

function isEmptied(before: PoolRecord, after: PoolRecord): boolean {
  return publishedCapacity(after).bytes <= 0 && publishedCapacity(before).bytes > 0;
}

// ── The pools of a DriverCapacity ──

/**
 * Whether an update of a DriverCapacity could help the pod. Publishers update their pools all the time, mostly because a pool shrank or only
 * to renew its expiry, so this checks the pools that changed: one must serve a class of the pod, be large enough for its smallest volume,
 * and have grown, be new, be reachable from other nodes, or be valid again after it was expired when the pod was refused.
 */
export function driverPoolsMayHelp(interest: Interest, change: DriverPoolsChange, pools: PoolTable): boolean {
  const drivers = driversOf(change).filter((driver) => interest.drivers.has(driver));
  if (drivers.length === 0) return false;
  // Then other objects publish the driver's capacity, or none does.
  if (change.difference.changesTracking) return true;
  const { refusedAtMs = Number.POSITIVE_INFINITY } = interest;
  const { entries } = change.difference;
  return drivers.some((driver) => {
    const wanted = smallestOfDriver(interest, driver);
    if (entries.some((name) => wanted.has(name) || name === fallbackStorageClassName)) return true;
    const gains = gainsOf(change, pools);
    for (const [name, smallest] of wanted) {
      const entry = pools.driverEntryName(driver, name);
      const found = entry === undefined ? undefined : gains.get(`${driver} ${entry}`);
      if (found?.some((gain) => gain.limitBytes >= smallest && gain.unlessRefusedBeforeMs <= refusedAtMs))
        return true;
    }
    return false;
  });
}

/** Whether the update changed anything that an answer for the pod may rely on. */
export function changesPoolsOf(interest: Interest, change: DriverPoolsChange): boolean {
  const { pools, entries, changesTracking } = change.difference;
  const hasChanged = pools.length > 0 || entries.length > 0 || changesTracking;
  return hasChanged && driversOf(change).some((driver) => interest.drivers.has(driver));
}

function driversOf({ before, after }: DriverPoolsChange): readonly string[] {
  const drivers = [before, after].flatMap((record) => record?.driver ?? []);
  return drivers[0] === drivers[1] ? drivers.slice(0, 1) : drivers;
}

/** A pool that may serve more volumes than before. */
interface Gain {
  /** The largest volume that it provisions. */
  readonly limitBytes: number;
  /** The pool had expired by then, so it helps only pods that were refused at that time or later. */
  readonly unlessRefusedBeforeMs: number;
}

/** Keyed by driver and entry. Computed once for each change, because every waiting pod reads it. */
const known = new WeakMap<DriverPoolsChange, ReadonlyMap<string, readonly Gain[]>>();

function gainsOf(change: DriverPoolsChange, pools: PoolTable): ReadonlyMap<string, readonly Gain[]> {
  const found = known.get(change);
  if (found !== undefined) return found;
  const gains = new Map<string, Gain[]>();
  for (const poolChange of change.difference.pools) {
    for (const [pool, unlessRefusedBeforeMs] of gainsOfPool(poolChange, pools)) {
      const key = `${pool.driver} ${pool.storageClass}`;
      const limitBytes = publishedLimit(pool)?.bytes ?? -1;
      gains.set(key, [...(gains.get(key) ?? []), { limitBytes, unlessRefusedBeforeMs }]);
    }
  }
  known.set(change, gains);
  return gains;
}

function gainsOfPool(change: PoolChange, pools: PoolTable): readonly (readonly [PoolRecord, number])[] {
  const { before, after } = change;
  const gaining = gainingPools(change, pools);
  const gains = gaining.map((pool) => [pool, Number.NEGATIVE_INFINITY] as const);
  if (before === undefined || after === undefined || gaining.includes(after)) return gains;
  return expiryOf(after) > expiryOf(before) ? [...gains, [after, expiryOf(before)]] : gains;
}

function expiryOf({ expiresAtMs }: PoolRecord): number {
  return expiresAtMs ?? Number.POSITIVE_INFINITY;
}
