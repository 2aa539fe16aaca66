import type { ClusterIndex } from '../../engine/cluster-index/cluster-index.ts';
import { lookUpPools } from '../../engine/cluster-index/pools/pool-lookup.ts';
import { stowageProfile } from '../../engine/cluster-index/profile.ts';
import type { ClassRecord } from '../../engine/records/class-record.ts';
import type { PoolRecord } from '../../engine/records/pool-record.ts';
import { addSizes, compareSizes, type Size, zeroSize } from '../../engine/size.ts';
import { noticeNotes } from '../explain/lines.ts';
import { quantityText } from '../pools/amounts.ts';
import { atLeastZero, PoolReader } from '../pools/pool-reader.ts';
import type { ClusterView } from '../view/cluster-view.ts';
import { missingNotes, type Need } from '../view/missing-notes.ts';
import { measureVolumes } from './measure-volumes.ts';
import type { CapacityReport, ClassCapacity } from './report.ts';

export interface MeasureOptions {
  readonly nowMs: number;
  /** Only this class. */
  readonly storageClass?: string | undefined;
}

export const capacityNeeds: readonly Need[] = [
  { kind: 'Node', resource: 'nodes', without: 'nothing is reachable' },
  { kind: 'StorageClass', resource: 'sc', without: 'classes are not shown, and nothing counts as promised' },
  { kind: 'CSIDriver', resource: 'csidrivers', without: 'whether drivers track capacity is not known' },
  { kind: 'CSIStorageCapacity', resource: 'csistoragecapacities -A', without: 'its pools are not shown' },
  { kind: 'PersistentVolume', resource: 'pv', without: 'existing volumes are not shown' },
  { kind: 'PersistentVolumeClaim', resource: 'pvc -A', without: 'nothing counts as promised' },
];

/** The capacity according to the engine's index. */
export function measureCapacity(view: ClusterView, { nowMs, storageClass }: MeasureOptions): CapacityReport {
  const { snapshot, notes } = view;
  const { index, warnings } = snapshot.toIndex(stowageProfile);
  index.settle(nowMs);
  const reader = new PoolReader(view, index, nowMs);
  const isAsked = (line: { readonly storageClass: string }) =>
    storageClass === undefined || line.storageClass === storageClass;
  return {
    apiVersion: 'stowage.dev/capacity/v1',
    kind: 'CapacityReport',
    classes: measureClasses(index, reader).filter(isAsked),
    pools: reader.all().filter(isAsked),
    volumes: measureVolumes(snapshot, index, reader.reaches).filter(isAsked),
    notes: [...notes, ...missingNotes(view, capacityNeeds), ...noticeNotes(warnings)],
  };
}

function measureClasses(index: ClusterIndex, reader: PoolReader): readonly ClassCapacity[] {
  return [...index.classes.values()]
    .filter(({ canProvision }) => canProvision)
    .map((storageClass) => measureClass(storageClass, index, reader))
    .sort((a, b) => (a.storageClass < b.storageClass ? -1 : 1));
}

function measureClass(
  { key, provisioner, policy: { placement } }: ClassRecord,
  index: ClusterIndex,
  reader: PoolReader,
): ClassCapacity {
  const { usage } = reader;
  const found = lookUpPools(index, provisioner, key);
  const pools = found.kind === 'pools' ? found.entry.rows.map((row) => index.pools.record(row)) : [];
  const live = pools.filter((pool) => !reader.isExpired(pool));
  const used = usage.usedOfClass(key);
  const line = {
    storageClass: key,
    provisioner,
    poolCount: pools.length,
    used: used && quantityText(used),
    placement,
  };
  if (found.kind === 'untracked')
    return { ...line, isTracked: false, reported: undefined, free: undefined, largestVolume: undefined };
  const total = sumIfKnown(live.map((pool) => usage.total(pool)));
  return {
    ...line,
    isTracked: true,
    reported: quantityText(
      sumByBacking(live, ({ key: pool }) => index.pools.capacity(index.pools.row(pool)!)),
    ),
    free: quantityText(sumByBacking(live, (pool) => atLeastZero(reader.free(pool)))),
    largestVolume: quantityText(largestOf(live.map((pool) => reader.largestVolume(pool)))),
    total: total && quantityText(total),
  };
}

function sumByBacking(pools: readonly PoolRecord[], amount: (pool: PoolRecord) => Size): Size {
  const byBacking = new Map<string, Size>();
  for (const pool of pools) {
    const known = byBacking.get(pool.backing) ?? zeroSize;
    byBacking.set(pool.backing, largestOf([known, amount(pool)]));
  }
  return [...byBacking.values()].reduce(addSizes, zeroSize);
}

/** Undefined if one of the sizes is unknown. */
function sumIfKnown(sizes: readonly (Size | undefined)[]): Size | undefined {
  const known = sizes.filter((size) => size !== undefined);
  return known.length < sizes.length ? undefined : known.reduce(addSizes, zeroSize);
}

function largestOf(sizes: readonly Size[]): Size {
  return sizes.reduce((most, size) => (compareSizes(size, most) > 0 ? size : most), zeroSize);
}
