/** Whether the published capacity report of a pool includes the volume of a promise. */
import type { PoolRecord } from '../../records/pool-record.ts';
import { compareSizes } from '../../size.ts';
import type { Profile } from '../profile.ts';
import type { PoolTable } from './pool-table.ts';
import { expansionOf } from './promise-ids.ts';
import type { CapacityPromise } from './promise-table.ts';
import { publishedCapacity } from './published-capacity-reports.ts';

/**
 * The promise, with `isInCapacityReport` as the pool's report says. A report without a time says nothing. A publisher takes the time before it asks
 * the driver, and a provisioner after the driver has answered. So a report with a later time includes the volume; with an equal time it may not.
 * The ledger of a drive lists the volumes that the report includes.
 */
export function compareWithCapacityReport(pools: PoolTable, promised: CapacityPromise): CapacityPromise {
  const pool = promised.poolKey === undefined ? undefined : pools.get(promised.poolKey);
  if (expansionOf(promised.id)?.isDone === false) return compareExpansion(pool, promised);
  // The entries of a pod's inline volumes are compared together.
  if (pool?.drive !== undefined && promised.claimUid === '') return promised;
  if (pool?.drive !== undefined)
    return withCapacityReport(promised, pool.drive.claims.has(promised.claimUid));
  if (pool?.measuredAtMs === undefined) return promised;
  const { existsAtMs } = promised;
  const isInCapacityReport = existsAtMs !== undefined && pool.measuredAtMs > existsAtMs;
  return withCapacityReport(promised, isInCapacityReport);
}

/**
 * An expansion that the driver has not done is in no published report. It counts only if the pool has that much free: a pod that does not fit
 * holds nothing either. On a drive, the ledger shows when it is done.
 */
function compareExpansion(pool: PoolRecord | undefined, promised: CapacityPromise): CapacityPromise {
  if (pool === undefined) return promised;
  const ledgerBytes = pool.drive?.claimBytes.get(promised.claimUid) ?? 0;
  const isInCapacityReport = promised.targetBytes !== undefined && ledgerBytes >= promised.targetBytes;
  const isTooLarge = !isInCapacityReport && compareSizes(promised.size, publishedCapacity(pool)) > 0;
  const isSame =
    isInCapacityReport === (promised.isInCapacityReport ?? false) &&
    isTooLarge === (promised.isTooLarge ?? false);
  return isSame ? promised : { ...promised, isInCapacityReport, isTooLarge };
}

function withCapacityReport(promised: CapacityPromise, isInCapacityReport: boolean): CapacityPromise {
  return isInCapacityReport === (promised.isInCapacityReport ?? false)
    ? promised
    : { ...promised, isInCapacityReport };
}

/** The volume is in the ledger of its drive, which is never replaced by an older one: the promise has nothing more to wait for. */
export function isInLedger(
  pools: PoolTable,
  { poolKey, settled, isInCapacityReport }: CapacityPromise,
): boolean {
  const isOnDrive = poolKey !== undefined && pools.get(poolKey)?.drive !== undefined;
  return isOnDrive && settled !== undefined && isInCapacityReport === true;
}

/** The report was measured before the volume certainly existed; or so shortly after that an older report could still replace it. */
export function mayBeMissed(
  { profile }: { readonly profile: Profile },
  pool: PoolRecord | undefined,
  existsAtMs: number,
): boolean {
  const measuredAtMs = pool?.measuredAtMs;
  return measuredAtMs !== undefined && measuredAtMs - existsAtMs <= profile.settledPromiseMaxMs;
}

/** A publisher that says when it measures will publish a report that includes the volume. */
export function waitsForMeasurement(
  pools: PoolTable,
  { poolKey, isInCapacityReport, existsAtMs, claimUid }: CapacityPromise,
): boolean {
  const pool = poolKey === undefined ? undefined : pools.get(poolKey);
  if (pool?.measuredAtMs === undefined || isInCapacityReport === true) return false;
  // The PersistentVolume of a bound claim may never be seen. An inline volume may be created any time.
  return existsAtMs !== undefined || claimUid === '';
}

/** The promise of a volume that waits for a report of its pool that includes it. A promise without a pool has no report to wait for, and ends. */
export function settledPromise(pools: PoolTable, promised: CapacityPromise): CapacityPromise | undefined {
  if (promised.poolKey === undefined) return undefined;
  const poolVersion = publicationStamp(pools.get(promised.poolKey));
  return { ...promised, isStored: false, settled: { poolVersion, sinceMs: undefined } };
}

/**
 * Distinguishes one publication of a pool without a time from the next. The version of a DriverCapacity changes with any of its pools, so
 * there the pool's own reports are compared; its expiry is not part of a report.
 */
export function publicationStamp(pool: PoolRecord | undefined): string | undefined {
  if (pool === undefined) return undefined;
  if (pool.form === 'CSIStorageCapacity') return pool.version;
  return `${pool.largest?.bytes} ${pool.free?.bytes}`;
}
