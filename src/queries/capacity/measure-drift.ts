import { stowageProfile } from '../../engine/cluster-index/profile.ts';
import type { PoolRecord } from '../../engine/records/pool-record.ts';
import { type DriftRecord, parseDriftRecord } from '../../kube/stowage/drift-record.ts';
import { drivesDriver } from '../../kube/stowage/drive.ts';
import { annotations } from '../../kube/well-known.ts';
import { noticeNotes } from '../explain/lines.ts';
import { PoolReader } from '../pools/pool-reader.ts';
import type { ClusterView } from '../view/cluster-view.ts';
import { missingNotes } from '../view/missing-notes.ts';
import type { Note } from '../view/note.ts';
import { driftProposals } from './drift-proposals.ts';
import type { DriftReport, PoolDriftLine } from './drift-report.ts';
import { capacityNeeds, type MeasureOptions } from './measure-capacity.ts';

/**
 * Returns the differences between the capacity reports of drivers and the known volumes. The publisher compares reports when it measures them, and stores the
 * result beside them: only then is it known which volumes a report includes.
 */
export function measureDrift(view: ClusterView, { nowMs, storageClass }: MeasureOptions): DriftReport {
  const { index, warnings } = view.snapshot.toIndex(stowageProfile);
  index.settle(nowMs);
  const reader = new PoolReader(view, index, nowMs);
  const pools = [...index.pools.records()]
    .filter((pool) => driverOf(view, pool) !== drivesDriver)
    .filter((pool) => storageClass === undefined || pool.storageClass === storageClass)
    .map((pool) => driftLine(view, pool, reader))
    .sort(byConcern);
  return {
    apiVersion: 'stowage.dev/drift/v1',
    kind: 'DriftReport',
    pools,
    notes: [
      ...view.notes,
      ...uncomparedNotes(pools),
      ...missingNotes(view, capacityNeeds),
      ...noticeNotes(warnings),
    ],
  };
}

/** Capacity reports of local drives are not compared: their ledgers list their volumes. A Drive is a pool of the same driver. */
function driverOf({ snapshot }: ClusterView, { driver, storageClass }: PoolRecord): string | undefined {
  return driver ?? snapshot.get('StorageClass', storageClass)?.provisioner;
}

function driftLine(view: ClusterView, pool: PoolRecord, reader: PoolReader): PoolDriftLine {
  const { reported, used, promised, source, driver } = reader.read(pool);
  const record = driftRecordOf(view, pool);
  return {
    pool: pool.name,
    source,
    driver,
    storageClass: pool.storageClass,
    // A DriverCapacity publishes the largest volume; the record has what is free.
    reported: source === 'DriverCapacity' ? (record?.last.free ?? reported) : reported,
    ours: used ?? record?.last.ours,
    promised,
    foreign: record?.listed?.foreign,
    leaked: record?.listed?.leaked,
    lost: record?.listed?.lost,
    shrunk: record?.listed?.shrunk,
    difference: record?.difference,
    since: record?.since,
    cause: record?.kind ?? 'unknown',
    baseline: record?.baseline,
    proposals: record === undefined ? [] : driftProposals(view, pool, record),
  };
}

function driftRecordOf({ snapshot }: ClusterView, pool: PoolRecord): DriftRecord | undefined {
  if (pool.form === 'CSIStorageCapacity') {
    const { metadata } = snapshot.get(pool.form, pool.object) ?? {};
    return parseDriftRecord(metadata?.annotations?.[annotations.drift]);
  }
  if (pool.form === 'Drive') return undefined;
  const { storage } = snapshot.get(pool.form, pool.object)?.status ?? {};
  const entry = storage?.find(({ storageClassName }) => storageClassName === pool.storageClass);
  return parseDriftRecord(entry?.pools?.find(({ name }) => name === pool.name)?.drift);
}

/** Pools with a difference come first, then by class and name. */
function byConcern(a: PoolDriftLine, b: PoolDriftLine): number {
  const rank = ({ cause }: PoolDriftLine) => (cause === 'none' ? 1 : cause === 'unknown' ? 2 : 0);
  const name = ({ storageClass, pool }: PoolDriftLine) => `${storageClass} ${pool}`;
  return rank(a) - rank(b) || (name(a) < name(b) ? -1 : 1);
}

function uncomparedNotes(pools: readonly PoolDriftLine[]): readonly Note[] {
  const count = pools.filter(({ cause }) => cause === 'unknown').length;
  if (count === 0) return [];
  const subject = count === 1 ? '1 pool has' : `${count} pools have`;
  return [
    {
      about: 'unseen',
      text: `${subject} no record of drift: the controller capacity of Stowage compares the reports that it publishes; other publishers do not`,
    },
  ];
}
