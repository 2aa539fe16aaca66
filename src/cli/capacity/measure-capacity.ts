import type { ClusterIndex } from '../../engine/cluster-index/cluster-index.ts';
import { lookUpPools } from '../../engine/cluster-index/pools/pool-lookup.ts';
import { publishedCapacity } from '../../engine/cluster-index/pools/pool-table.ts';
import { stowageProfile } from '../../engine/cluster-index/profile.ts';
import type { ClassRecord } from '../../engine/records/class-record.ts';
import type { PoolRecord } from '../../engine/records/pool-record.ts';
import { addSizes, compareSizes, type Size, subtractSizes, zeroSize } from '../../engine/size.ts';
import { noticeNotes } from '../explain/lines.ts';
import { quantityText } from '../reservations/amounts.ts';
import { ReachReader } from '../reservations/reach.ts';
import type { ClusterView } from '../source/cluster-view.ts';
import { missingNotes, type Need } from '../source/missing-notes.ts';
import { measureVolumes } from './measure-volumes.ts';
import { orphanCheck } from './orphaned-pools.ts';
import { type FigureSource, figureSource } from './pool-publisher.ts';
import { PoolUsage } from './pool-usage.ts';
import type { CapacityReport, ClassCapacity, PoolCapacity } from './report.ts';

export interface MeasureOptions {
  readonly nowMs: number;
  /** Only this class. */
  readonly storageClass?: string | undefined;
}

const needs: readonly Need[] = [
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
  const reaches = new ReachReader(index);
  const usage = new PoolUsage(view, index);
  const isAsked = (line: { readonly storageClass: string }) =>
    storageClass === undefined || line.storageClass === storageClass;
  return {
    apiVersion: 'stowage.dev/capacity/v1',
    kind: 'CapacityReport',
    classes: measureClasses({ index, usage, nowMs }).filter(isAsked),
    pools: measurePools(
      { index, usage, nowMs },
      { reaches, isOrphan: orphanCheck(view), sourceOf: (pool) => figureSource(view, pool) },
    ).filter(isAsked),
    volumes: measureVolumes(snapshot, index, reaches).filter(isAsked),
    notes: [...notes, ...missingNotes(view, needs), ...noticeNotes(warnings)],
  };
}

interface Measured {
  readonly index: ClusterIndex;
  readonly usage: PoolUsage;
  readonly nowMs: number;
}

function measureClasses(measured: Measured): readonly ClassCapacity[] {
  return [...measured.index.classes.values()]
    .filter(({ canProvision }) => canProvision)
    .map((storageClass) => measureClass(storageClass, measured))
    .sort((a, b) => (a.storageClass < b.storageClass ? -1 : 1));
}

function measureClass({ key, provisioner }: ClassRecord, { index, usage, nowMs }: Measured): ClassCapacity {
  const found = lookUpPools(index, provisioner, key);
  const pools = found.kind === 'pools' ? found.entry.rows.map((row) => index.pools.record(row)) : [];
  const live = pools.filter((pool) => !isExpired(pool, nowMs));
  const used = usage.usedOfClass(key);
  const line = {
    storageClass: key,
    provisioner,
    poolCount: pools.length,
    used: used && quantityText(used),
  };
  if (found.kind === 'untracked')
    return { ...line, isTracked: false, reported: undefined, free: undefined, largestVolume: undefined };
  const total = sumIfKnown(live.map((pool) => usage.total(pool)));
  return {
    ...line,
    isTracked: true,
    reported: quantityText(sumByBacking(live, publishedCapacity)),
    free: quantityText(sumByBacking(live, (pool) => atLeastZero(roomOf(index, pool)))),
    largestVolume: quantityText(largestOf(live.map((pool) => largestVolume(index, pool)))),
    total: total && quantityText(total),
  };
}

/** What is known about pools besides their figures. */
interface PoolFacts {
  readonly reaches: ReachReader;
  readonly isOrphan: (pool: PoolRecord) => boolean;
  readonly sourceOf: (pool: PoolRecord) => FigureSource;
}

function measurePools(measured: Measured, facts: PoolFacts): readonly PoolCapacity[] {
  return [...measured.index.pools.records()]
    .map((pool) => measurePool(pool, measured, facts))
    .sort((a, b) => (order(a) < order(b) ? -1 : 1));
}

function order({ storageClass, pool }: PoolCapacity): string {
  return `${storageClass} ${pool}`;
}

function measurePool(
  pool: PoolRecord,
  { index, usage, nowMs }: Measured,
  { reaches, isOrphan, sourceOf }: PoolFacts,
): PoolCapacity {
  const { pools } = index;
  const { key, name, form, driver, storageClass } = pool;
  const reported = publishedCapacity(pool);
  const isOld = isExpired(pool, nowMs);
  const used = usage.used(pool);
  const total = isOld ? undefined : usage.total(pool);
  return {
    pool: name,
    source: form,
    driver,
    storageClass,
    reach: reaches.of(pools.topology(pools.row(key)!)),
    reported: pool.free === undefined && pool.largest === undefined ? undefined : quantityText(reported),
    used: used && quantityText(used),
    total: total && quantityText(total),
    promised: quantityText(subtractSizes(reported, roomOf(index, pool))),
    free: quantityText(roomOf(index, pool)),
    largestVolume: quantityText(isOld ? zeroSize : largestVolume(index, pool)),
    isExpired: isOld,
    isOrphaned: isOrphan(pool),
    ...sourceOf(pool),
    sharesWith: pools
      .poolsOnSameBacking(key)
      .filter((other) => other !== pool)
      .map((other) => `${other.name} (${other.storageClass})`)
      .sort(),
  };
}

function isExpired({ expiresAtMs }: PoolRecord, nowMs: number): boolean {
  return expiresAtMs !== undefined && expiresAtMs <= nowMs;
}

function roomOf({ pools }: ClusterIndex, { key }: PoolRecord): Size {
  return pools.available(pools.row(key)!);
}

/** The value that plans compare: a volume must fit both the limit of a single volume and the free capacity. */
function largestVolume(index: ClusterIndex, pool: PoolRecord): Size {
  const limit = index.pools.limit(index.pools.row(pool.key)!) ?? zeroSize;
  const free = roomOf(index, pool);
  return atLeastZero(compareSizes(limit, free) < 0 ? limit : free);
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

function atLeastZero(size: Size): Size {
  return compareSizes(size, zeroSize) < 0 ? zeroSize : size;
}
