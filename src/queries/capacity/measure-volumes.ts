import type { ClusterIndex } from '../../engine/cluster-index/cluster-index.ts';
import type { Topology } from '../../engine/cluster-index/nodes/topology-table.ts';
import { addSizes, compareSizes, type Size, zeroSize } from '../../engine/size.ts';
import { annotations } from '../../kube/well-known.ts';
import type { ClusterSnapshot } from '../../state/cluster-snapshot.ts';
import { quantityText } from '../pools/amounts.ts';
import { type ReachReader, reachText } from '../pools/reach.ts';
import type { VolumesCapacity } from './report.ts';

interface Tally {
  readonly storageClass: string;
  readonly topology: Topology;
  count: number;
  total: Size;
  freeCount: number;
  free: Size;
  largestFree: Size;
}

/** Pre-provisioned volumes, by class and reachable nodes. Dynamically provisioned volumes are not capacity: their bytes are used. */
export function measureVolumes(
  snapshot: ClusterSnapshot,
  index: ClusterIndex,
  reaches: ReachReader,
): readonly VolumesCapacity[] {
  const tallies = new Map<string, Tally>();
  for (const { key, className, size, nodes } of index.volumes.records()) {
    const marks = snapshot.get('PersistentVolume', key)?.metadata?.annotations;
    if (marks?.[annotations.provisionedBy] !== undefined) continue;
    const row = index.volumes.row(key)!;
    const group = `${className}\n${nodes.key}`;
    const tally = tallies.get(group) ?? newTally(className, index.volumes.topology(row));
    tallies.set(group, tally);
    count(tally, size, index.volumes.isFree(row));
  }
  return [...tallies.values()].map((tally) => lineOf(tally, reaches)).sort(compareLines);
}

function newTally(storageClass: string, topology: Topology): Tally {
  return {
    storageClass,
    topology,
    count: 0,
    total: zeroSize,
    freeCount: 0,
    free: zeroSize,
    largestFree: zeroSize,
  };
}

function count(tally: Tally, size: Size, isFree: boolean): void {
  tally.count += 1;
  tally.total = addSizes(tally.total, size);
  if (!isFree) return;
  tally.freeCount += 1;
  tally.free = addSizes(tally.free, size);
  if (compareSizes(size, tally.largestFree) > 0) tally.largestFree = size;
}

function lineOf(tally: Tally, reaches: ReachReader): VolumesCapacity {
  return {
    storageClass: tally.storageClass,
    reach: reaches.of(tally.topology),
    count: tally.count,
    total: quantityText(tally.total),
    freeCount: tally.freeCount,
    free: quantityText(tally.free),
    largestFree: quantityText(tally.largestFree),
  };
}

function compareLines(a: VolumesCapacity, b: VolumesCapacity): number {
  if (a.storageClass !== b.storageClass) return a.storageClass < b.storageClass ? -1 : 1;
  return reachText(a.reach) < reachText(b.reach) ? -1 : 1;
}
