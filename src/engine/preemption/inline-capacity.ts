import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { inlineVolumeId } from '../cluster-index/pools/promise-ids.ts';
import type { CapacityPromise } from '../cluster-index/pools/promise-table.ts';
import type { PodRecord } from '../records/pod-record.ts';
import { addSizes, type Size, subtractSizes } from '../size.ts';

/** The capacity that a pod's inline volumes take. A dry run returns it to the pools, and takes it again if the pod stays. */
export interface InlineCapacity {
  /** Volumes that no capacity report includes. */
  readonly promises: readonly CapacityPromise[];
  /** Volumes that the pool's report includes: without them it would be larger. */
  readonly included: readonly { readonly poolKey: string; readonly size: Size }[];
}

/** Returns the capacity that the pod's inline volumes use now. Call it before the pod is removed. */
export function inlineCapacityOf(pod: PodRecord, index: ClusterIndex): InlineCapacity {
  const promises: CapacityPromise[] = [];
  const included: { poolKey: string; size: Size }[] = [];
  if (!index.profile.checkInlineVolumes) return { promises, included };
  for (const volume of pod.inlineVolumes) {
    const { size, volumeName } = volume;
    if (size === undefined) continue;
    const promised = index.promises.get(inlineVolumeId(pod.key, volumeName));
    if (promised !== undefined && promised.isInCapacityReport !== true) promises.push(promised);
    else {
      const poolKey = promised?.poolKey ?? index.inlinePool(volume, pod.nodeName)?.key;
      if (poolKey !== undefined) included.push({ poolKey, size });
    }
  }
  return { promises, included };
}

export function returnInlineCapacity({ promises, included }: InlineCapacity, index: ClusterIndex): void {
  for (const { id } of promises) if (index.promises.get(id) !== undefined) index.setPromise(id, undefined);
  for (const { poolKey, size } of included)
    changeCapacityReports(index, poolKey, (report) => addSizes(report, size));
}

export function takeInlineCapacity({ promises, included }: InlineCapacity, index: ClusterIndex): void {
  for (const promised of promises) index.setPromise(promised.id, promised);
  for (const { poolKey, size } of included)
    changeCapacityReports(index, poolKey, (report) => subtractSizes(report, size));
}

function changeCapacityReports(index: ClusterIndex, poolKey: string, change: (report: Size) => Size): void {
  const pool = index.pools.get(poolKey);
  index.setPoolCapacityReports(
    poolKey,
    pool?.free && change(pool.free),
    pool?.largest && change(pool.largest),
  );
}
