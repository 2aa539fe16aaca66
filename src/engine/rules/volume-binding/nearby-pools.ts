import type { ClusterIndex } from '../../index/cluster-index.ts';
import { publishedRoom } from '../../index/pool-table.ts';
import { compareSizes, subtractSizes, zeroSize } from '../../size.ts';
import type { Candidate, Margin, Obstacle } from '../finding.ts';
import type { Want } from './needs.ts';
import type { PoolRoom } from './pool-room.ts';

/** The pools that a node reaches for a want, most room first, with what stops each of them. */
export function nearbyPools(index: ClusterIndex, room: PoolRoom, want: Want, node: number): Candidate[] {
  const rows = [...room.reachable(want, node)];
  rows.sort((a, b) => compareSizes(index.pools.room(b), index.pools.room(a)) || a - b);
  return rows.map((row) => ({
    kind: 'pool',
    name: index.pools.record(row).name,
    obstacles: obstaclesOfPool(index, room, want, row),
  }));
}

function obstaclesOfPool(index: ClusterIndex, room: PoolRoom, want: Want, row: number): Obstacle[] {
  const margin = marginOf(index, want, row);
  const found: Obstacle[] = [];
  const limit = index.pools.limit(row) ?? zeroSize;
  const policy = want.making!.policy;
  if (room.isExpired(row)) found.push({ code: 'Expired', margin });
  if (compareSizes(limit, want.size) < 0)
    found.push({ code: 'VolumeTooLarge', margin: { ...margin, free: limit, promised: zeroSize } });
  if (policy === 'one-at-a-time' && index.pools.hasPromises(row)) found.push({ code: 'Busy', margin });
  if (policy === 'linear' && compareSizes(index.pools.room(row), want.size) < 0)
    found.push({ code: 'NoRoom', margin });
  return found;
}

function marginOf(index: ClusterIndex, want: Want, row: number): Margin {
  const free = publishedRoom(index.pools.record(row));
  return { unit: 'bytes', needed: want.size, free, promised: subtractSizes(free, index.pools.room(row)) };
}
