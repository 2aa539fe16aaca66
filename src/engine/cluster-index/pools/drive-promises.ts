import type { PoolRecord } from '../../records/pool-record.ts';
import { compareWithFigure, isInLedger } from './figure-comparison.ts';
import type { PoolTable } from './pool-table.ts';
import type { CapacityPromise, PromiseTable } from './promise-table.ts';

interface PromiseWriter {
  readonly pools: PoolTable;
  readonly promises: PromiseTable;
  setPromise(id: string, promised: CapacityPromise | undefined): void;
}

/**
 * The ledger of a drive has the volume of a claim, or no longer has it. CreateVolume may have put the volume on another drive than was
 * planned: the promise follows it.
 */
export function driveUpdated(index: PromiseWriter, before: PoolRecord | undefined, after: PoolRecord): void {
  for (const id of [...index.promises.ofPool(after.key)]) setIfDifferent(index, id, after.key);
  for (const [uid, claimKey] of after.drive!.claims) {
    if (before?.drive?.claims.has(uid) === true) continue;
    const promised = index.promises.get(claimKey);
    if (promised?.claimUid === uid && promised.poolKey !== after.key)
      setIfDifferent(index, claimKey, after.key);
  }
}

/** Sets a promise as the figure of its pool says. It ends if the ledger of its drive has the volume of the bound claim. */
export function setCompared(index: PromiseWriter, id: string, promised: CapacityPromise | undefined): void {
  const compared = promised && compareWithFigure(index.pools, promised);
  const isOver = compared !== undefined && isInLedger(index.pools, compared);
  index.setPromise(id, isOver ? undefined : compared);
}

function setIfDifferent(index: PromiseWriter, id: string, poolKey: string): void {
  const promised = index.promises.get(id)!;
  const compared = compareWithFigure(index.pools, { ...promised, poolKey });
  if (promised.poolKey !== poolKey || compared.isInFigure !== (promised.isInFigure ?? false))
    setCompared(index, id, compared);
}

/** What is left on a drive, whose pool is `key`; undefined if there is no such drive. */
export function roomOnDrive(pools: PoolTable, key: string): number | undefined {
  const row = pools.row(key);
  return row === undefined ? undefined : pools.available(row).bytes;
}

/** A volume that appears in the ledger ends its promise, and uses the bytes that were promised: nothing is free for others. */
export function dropUsedRoom({ pools, promises }: PromiseWriter, key: string, beforeBytes: number): void {
  const hasGrown = (roomOnDrive(pools, key) ?? 0) > beforeBytes;
  if (!hasGrown && !promises.wasFreed(key)) promises.dropFreed(key);
}
