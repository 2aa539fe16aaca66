import { capacityPoolKey } from '../../records/pool-record.ts';
import { compareSizes, type Size } from '../../size.ts';
import type { IndexedKind } from '../cluster-change.ts';
import type { Profile } from '../profile.ts';
import { drivePoolKey } from './drive-pool.ts';
import { dropUsedRoom, roomOnDrive } from './drive-promises.ts';
import type { PoolTable } from './pool-table.ts';
import type { PromiseTable } from './promise-table.ts';

interface Pools {
  readonly pools: PoolTable;
  readonly promises: PromiseTable;
  readonly profile: Profile;
}

/**
 * A new volume ends its promise and uses the bytes that were promised: nothing is free for others. Call this before a change of the index, and the
 * result after it: a pool whose promises ended and that has no more available than before then does not count as freed.
 */
export function usedCapacityCheck(index: Pools, kind: IndexedKind, key: string): () => void {
  if (kind === 'Drive') {
    const before = roomOnDrive(index, drivePoolKey(key));
    return before === undefined ? nothing : () => dropUsedRoom(index, drivePoolKey(key), before);
  }
  if (kind !== 'CSIStorageCapacity') return nothing;
  const poolKey = capacityPoolKey(key);
  const row = index.pools.row(poolKey);
  if (row === undefined) return nothing;
  const before = index.pools.available(row);
  return () => dropUsedCapacityReport(index, poolKey, before);
}

const nothing = (): void => {};

function dropUsedCapacityReport({ pools, promises, profile }: Pools, poolKey: string, before: Size): void {
  const row = pools.row(poolKey);
  if (row === undefined || promises.wasFreed(poolKey)) return;
  // The capacity reports of pools on the same disks convert each other's promises.
  if (pools.record(row).isShared || compareSizes(pools.available(row), before) > 0) return;
  // Such a pool may serve another volume as soon as its last promise has ended.
  if (servesOneAtATime(profile) && !pools.hasPromises(row)) return;
  promises.dropFreed(poolKey);
}

function servesOneAtATime({ inFlight, inFlightOf }: Profile): boolean {
  return [inFlight, ...Object.values(inFlightOf)].includes('one-at-a-time');
}
