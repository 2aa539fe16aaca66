import type { ClusterIndex } from '../../engine/cluster-index/cluster-index.ts';
import { expandedId, expansionId, expansionOf } from '../../engine/cluster-index/pools/promise-ids.ts';
import { type CapacityPromise, isDeducted } from '../../engine/cluster-index/pools/promise-table.ts';
import { addSizes, compareSizes, type Size, subtractSizes, zeroSize } from '../../engine/size.ts';
import { quantityText } from './amounts.ts';

/** The growth of a claim's volume that no capacity report includes yet. */
export interface ExpansionInFlight {
  readonly claim: string;
  readonly volume: string;
  /** The size of the volume now. */
  readonly from: string;
  /** The size that it will have. */
  readonly to: string;
  readonly growth: string;
  /** The pool that has the volume; undefined if its driver publishes no capacity. */
  readonly pool: string | undefined;
  /**
   * `Reserved`: the growth is deducted from the pool. `DoesNotFit`: the pool reports less free than the growth, so nothing is deducted.
   * `Expanded`: the driver has expanded the volume, and the growth is deducted until a report includes it. `Untracked`: the driver publishes no
   * capacity.
   */
  readonly state: 'Reserved' | 'DoesNotFit' | 'Expanded' | 'Untracked';
  /** Missing bytes of the pool for all promises; undefined if it has enough. */
  readonly missing?: string | undefined;
}

/** Keyed by claim. */
export function expansionsInFlight(index: ClusterIndex): readonly ExpansionInFlight[] {
  const keys = [...index.promises.all()].flatMap(({ id }) => expansionOf(id)?.claimKey ?? []);
  return [...new Set(keys)].sort().flatMap((key) => expansionsOf(index, key));
}

/** The expansion that the driver has not done yet, and the one that it has done since the last report. */
export function expansionsOf(index: ClusterIndex, claimKey: string): readonly ExpansionInFlight[] {
  return [expansionId(claimKey), expandedId(claimKey)].flatMap((id) => {
    const promised = index.promises.get(id);
    const isOver = promised?.isInCapacityReport === true;
    return promised === undefined || isOver ? [] : [expansionOfPromise(index, claimKey, promised)];
  });
}

function expansionOfPromise(
  index: ClusterIndex,
  claimKey: string,
  promised: CapacityPromise,
): ExpansionInFlight {
  const { pools, claims, volumes } = index;
  const isDone = promised.settled !== undefined;
  const volume = claims.get(claimKey)?.volumeName ?? '';
  const now = volumes.get(volume)?.size ?? zeroSize;
  const from = isDone ? subtractSizes(now, promised.size) : now;
  const pool = promised.poolKey === undefined ? undefined : pools.get(promised.poolKey);
  const missing = pool === undefined ? zeroSize : missingIn(index, pool.key, promised);
  return {
    claim: claimKey,
    volume,
    from: quantityText(from),
    to: quantityText(addSizes(from, promised.size)),
    growth: quantityText(promised.size),
    pool: pool?.name,
    state:
      pool === undefined
        ? 'Untracked'
        : isDone
          ? 'Expanded'
          : isDeducted(promised)
            ? 'Reserved'
            : 'DoesNotFit',
    ...(compareSizes(missing, zeroSize) > 0 && { missing: quantityText(missing) }),
  };
}

/** Missing bytes of the pool if the expansion is done and every promise is kept. */
function missingIn({ pools }: ClusterIndex, poolKey: string, promised: CapacityPromise): Size {
  const available = pools.available(pools.row(poolKey)!);
  const left = isDeducted(promised) ? available : subtractSizes(available, promised.size);
  return subtractSizes(zeroSize, left);
}
