import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import { policyOfClaim } from '../../cluster-index/pools/policies/policy-of-claim.ts';
import { packShape, spreadShape } from '../../cluster-index/profile.ts';
import { addSizes, compareSizes, nanoOf, type Size, zeroSize } from '../../size.ts';
import type { Cycle } from '../framework/cycle.ts';
import type { ClaimRequest, VolumeNeeds } from './needs.ts';
import { integerShapeScore, ShapeLines } from './shape-score.ts';
import type { Solution } from './solution.ts';

/**
 * Scores nodes by how well their volumes suit the pod.
 *
 * Method `stowage`: an existing volume scores 50 to 100, more the closer its size is to the request; a new volume scores 0 to 50, by the
 * utilization of its pool with the pod: the less of it remains free, the higher the utilization. Whether that is good or bad is a matter of
 * its policy (of the claim, its namespace or its class), which may say `pack` or `spread`, or else of the profile. So pre-provisioned volumes come before dynamic ones, as the administrator intended, and tight fits
 * before loose ones. The score of a pod is the mean over its volumes.
 */
export function scoreVolumes(
  needs: VolumeNeeds,
  solution: Solution,
  cycle: Cycle,
  scores: Float64Array,
): void {
  const { method } = cycle.index.profile.scoring;
  if (method === 'none' || needs.requests.length === 0) return;
  const suitability = new Suitability(cycle.index, needs, solution);
  const { rows: nodes, count } = cycle.feasibleRows();
  for (let position = 0; position < count; position++) {
    const node = nodes[position]!;
    scores[node] =
      method === 'stowage' ? suitability.meanAt(node) : utilizationScore(cycle.index, needs, solution, node);
  }
}

/** For a new volume of a driver that publishes no capacity: neither good nor bad. */
const unknownPoolScore = 25;

const shapeOf = { pack: new ShapeLines(packShape), spread: new ShapeLines(spreadShape) } as const;

/** Holds what is looked up once for a pod instead of once for each node. */
class Suitability {
  readonly #index: ClusterIndex;
  readonly #requests: readonly ClaimRequest[];
  readonly #solution: Solution;
  readonly #volumeShape: ShapeLines;
  /** Indexed by request. */
  readonly #poolShapes: readonly ShapeLines[];
  /** For each request the pools by node; undefined if its capacity is not tracked. */
  #columns: readonly (Int32Array | undefined)[] | undefined;

  constructor(index: ClusterIndex, { requests }: VolumeNeeds, solution: Solution) {
    this.#index = index;
    this.#requests = requests;
    this.#solution = solution;
    this.#volumeShape = new ShapeLines(index.profile.scoring.volumeShape);
    const byProfile = new ShapeLines(index.profile.scoring.poolShape);
    this.#poolShapes = requests.map(({ claim }) => {
      const placement = claim === undefined ? undefined : policyOfClaim(index, claim).placement;
      return placement === undefined ? byProfile : shapeOf[placement];
    });
  }

  meanAt(node: number): number {
    const { choice } = this.#solution;
    let sum = 0;
    for (let request = 0; request < this.#requests.length; request++) {
      const hasVolume = choice.at(request, node) >= 0;
      sum += hasVolume ? this.#ofVolume(request, choice.bytesAt(request, node)) : this.#ofPool(request, node);
    }
    return sum / this.#requests.length;
  }

  #ofVolume(request: number, capacityBytes: number): number {
    const utilization =
      capacityBytes === 0 ? 100 : (this.#requests[request]!.size.bytes * 100) / capacityBytes;
    return 50 + this.#volumeShape.at(utilization) / 2;
  }

  /** Scores the utilization of the pool with all of the pod's new volumes. */
  #ofPool(request: number, node: number): number {
    const pool = this.#poolOf(request, node);
    if (pool < 0) return unknownPoolScore;
    let taken = 0;
    for (let other = 0; other < this.#requests.length; other++) {
      const shares =
        other === request ||
        (this.#solution.choice.at(other, node) < 0 && this.#poolOf(other, node) === pool);
      if (shares) taken += this.#requests[other]!.size.bytes;
    }
    const available = this.#index.pools.availableBytes[pool]!;
    const utilization = available <= 0 ? 100 : Math.min(100, (taken * 100) / available);
    return this.#poolShapes[request]!.at(utilization) / 2;
  }

  #poolOf(request: number, node: number): number {
    this.#columns ??= this.#requests.map((each) =>
      this.#solution.capacity.isTracked(each) ? this.#solution.capacity.column(each) : undefined,
    );
    return this.#columns[request]?.[node] ?? -1;
  }
}

/**
 * Kubernetes 1.37: for each class, requested over available bytes; only existing volumes if the node has any for this pod. Available is the
 * sum of the volumes' sizes, but the size of one capacity object counts once, however many claims draw on it.
 */
function utilizationScore(index: ClusterIndex, needs: VolumeNeeds, solution: Solution, node: number): number {
  const classes = new Map<string, { requested: Size; available: Size }>();
  const hasVolume = needs.requests.some((request) => solution.choice.at(request.position, node) >= 0);
  for (const request of needs.requests) {
    const row = solution.choice.at(request.position, node);
    if (hasVolume !== row >= 0) continue;
    const pool =
      row < 0 && solution.capacity.isTracked(request) ? solution.capacity.column(request)[node]! : -1;
    if (row < 0 && pool < 0) continue;
    const className = row >= 0 ? index.volumes.record(row).className : request.provisioning!.className;
    const sums = classes.get(className) ?? { requested: zeroSize, available: zeroSize };
    sums.requested = addSizes(sums.requested, request.size);
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
