import type { ClusterIndex } from '../../index/cluster-index.ts';
import { addSizes, compareSizes, nanoOf, type Size, zeroSize } from '../../size.ts';
import type { Cycle } from '../cycle.ts';
import type { VolumeNeeds, Want } from './needs.ts';
import { integerShapeScore, shapeScore } from './shape-score.ts';
import type { Solution } from './solution.ts';

/**
 * Ranks nodes by how well their volumes suit the pod.
 *
 * Method `stowage`: an existing volume is worth 50 to 100, more the closer its size is to the request; a new one 0 to 50,
 * by how full the pod would make its pool. So pre-provisioned goes before dynamic, as its administrator meant it, and
 * tight before loose. A pod's score is the mean over its volumes.
 */
export function scoreVolumes(
  needs: VolumeNeeds,
  solution: Solution,
  cycle: Cycle,
  scores: Float64Array,
): void {
  const { method } = cycle.index.profile.scoring;
  if (method === 'none' || needs.wants.length === 0) return;
  const { rows: nodes, count } = cycle.feasibleRows();
  for (let position = 0; position < count; position++) {
    const node = nodes[position]!;
    scores[node] =
      method === 'stowage'
        ? meanSuitability(cycle.index, needs, solution, node)
        : utilizationScore(cycle.index, needs, solution, node);
  }
}

/** A new volume of a driver that keeps no books: neither good nor bad. */
const unknownPoolScore = 25;

function meanSuitability(index: ClusterIndex, needs: VolumeNeeds, solution: Solution, node: number): number {
  let sum = 0;
  for (let position = 0; position < needs.wants.length; position++) {
    const want = needs.wants[position]!;
    const row = solution.choice.at(position, node);
    sum +=
      row >= 0
        ? volumeSuitability(index, want, solution.choice.bytesAt(position, node))
        : poolSuitability(index, needs, solution, { want, node });
  }
  return sum / needs.wants.length;
}

function volumeSuitability(index: ClusterIndex, want: Want, capacityBytes: number): number {
  const utilization = capacityBytes === 0 ? 100 : (want.size.bytes * 100) / capacityBytes;
  return 50 + shapeScore(index.profile.scoring.volumeShape, utilization) / 2;
}

interface WantAt {
  readonly want: Want;
  readonly node: number;
}

/** By how full all of the pod's new volumes together would make the pool. */
function poolSuitability(
  index: ClusterIndex,
  { wants }: VolumeNeeds,
  solution: Solution,
  { want, node }: WantAt,
): number {
  const pool = poolOf(solution, want, node);
  if (pool < 0) return unknownPoolScore;
  let taken = 0;
  for (let position = 0; position < wants.length; position++) {
    const isNew = solution.choice.at(position, node) < 0;
    if (isNew && poolOf(solution, wants[position]!, node) === pool) taken += wants[position]!.size.bytes;
  }
  const room = index.pools.roomBytes[pool]!;
  const utilization = room <= 0 ? 100 : Math.min(100, (taken * 100) / room);
  return shapeScore(index.profile.scoring.poolShape, utilization) / 2;
}

/** The first pool that would take the want; -1 for none, or where nobody keeps books. */
function poolOf(solution: Solution, want: Want, node: number): number {
  return solution.room.isTracked(want) ? solution.room.column(want)[node]! : -1;
}

/**
 * Kubernetes 1.37: per class, requested over available; existing volumes only, if the node has any for this pod. Available
 * is the sum of the volumes' sizes, but the size of one capacity object however many claims draw on it.
 */
function utilizationScore(index: ClusterIndex, needs: VolumeNeeds, solution: Solution, node: number): number {
  const classes = new Map<string, { requested: Size; available: Size }>();
  const hasVolume = needs.wants.some((want) => solution.choice.at(want.position, node) >= 0);
  for (const want of needs.wants) {
    const row = solution.choice.at(want.position, node);
    if (hasVolume !== row >= 0) continue;
    const pool = row < 0 ? poolOf(solution, want, node) : -1;
    if (row < 0 && pool < 0) continue;
    const className = row >= 0 ? index.volumes.record(row).className : want.making!.className;
    const sums = classes.get(className) ?? { requested: zeroSize, available: zeroSize };
    sums.requested = addSizes(sums.requested, want.size);
    sums.available =
      row >= 0
        ? addSizes(sums.available, index.volumes.record(row).size)
        : (index.pools.record(pool).free ?? zeroSize);
    classes.set(className, sums);
  }
  if (classes.size === 0) return 0;
  let total = 0;
  for (const { requested, available } of classes.values()) {
    total += integerShapeScore(index.profile.scoring.volumeShape, utilizationPercent(requested, available));
  }
  return Math.round(total / classes.size);
}

function utilizationPercent(requested: Size, available: Size): number {
  if (compareSizes(available, zeroSize) === 0 || compareSizes(requested, available) > 0) return 100;
  return Number((nanoOf(requested) * 100n) / nanoOf(available));
}
