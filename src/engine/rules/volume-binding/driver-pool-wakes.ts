import { fallbackStorageClassName } from '../../../kube/stowage.ts';
import type { DriverPoolsChange } from '../../cluster-index/cluster-change.ts';
import type { PoolChange } from '../../cluster-index/pool-changes.ts';
import type { PoolTable } from '../../cluster-index/pools/pool-table.ts';
import { publishedLimit } from '../../cluster-index/pools/published-figures.ts';
import type { PoolRecord } from '../../records/pool-record.ts';
import type { Interest } from '../framework/rule.ts';
import { gainingPools, smallestOfDriver } from './pool-wakes.ts';

/**
 * Whether an update of a DriverCapacity could help the pod. Publishers update their pools all the time, mostly because a pool shrank or only
 * to renew its expiry, so this looks at the pools that changed: one must serve a class of the pod, be large enough for its smallest volume,
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

/** By driver and entry. Computed once for each change, because every waiting pod asks for it. */
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
