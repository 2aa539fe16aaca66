import { compareSizes, type Size } from '../../size.ts';
import type { Profile } from '../profile.ts';
import type { PoolTable } from './pool-table.ts';
import type { PromiseTable } from './promise-table.ts';

interface Pools {
  readonly pools: PoolTable;
  readonly promises: PromiseTable;
  readonly profile: Profile;
}

/**
 * A figure that includes a new volume ends the promise of the volume and falls by as many bytes: nothing is free for others. So the pool
 * counts as freed only if it has more available than before, or if it may serve other volumes because its last promise has ended.
 */
export function dropUsedCapacity(
  { pools, promises, profile }: Pools,
  poolKey: string,
  before: Size | undefined,
): void {
  const row = pools.row(poolKey);
  if (row === undefined || before === undefined || promises.wasFreed(poolKey)) return;
  // The figures of pools on the same disks convert each other's promises.
  if (pools.record(row).isShared || compareSizes(pools.available(row), before) > 0) return;
  if (servesOneAtATime(profile) && !pools.hasPromises(row)) return;
  promises.dropFreed(poolKey);
}

function servesOneAtATime({ inFlight, inFlightOf }: Profile): boolean {
  return [inFlight, ...Object.values(inFlightOf)].includes('one-at-a-time');
}
