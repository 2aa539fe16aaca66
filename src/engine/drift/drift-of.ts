import { bytesOf, quantityOfBytes } from '../../kube/quantities/bytes.ts';
import type { DriftCapacityReport, DriftKind, DriftRecord } from '../../kube/stowage/drift-record.ts';
import { type ListFindings, type ListShare, listedShare, withList } from './list-share.ts';

/** A capacity report of a pool, and the volumes that it should include. */
export interface MeasuredPool {
  /** When the driver was asked, before the answer. */
  readonly measuredAtMs: number;
  /** `available_capacity` of GetCapacity, not the largest volume. */
  readonly freeBytes: bigint;
  readonly volumes: PoolVolumes;
  /** The findings in the driver's list of volumes of the pool's segment; undefined if there is no list, or it is not known yet. */
  readonly listed?: ListFindings | undefined;
}

/** The volumes in a pool's topology segment at the time of a report. */
export interface PoolVolumes {
  /** The volumes of the pool's class that the report includes. */
  readonly oursBytes: bigint;
  /** The driver's volumes of other classes that the report includes if the classes use the same disks. */
  readonly otherClassesBytes: bigint;
  /** Volumes that are being created, expanded or deleted: the report may include them or not. */
  readonly unsureBytes: bigint;
  readonly count: number;
  /** Undefined: as much as they have, or nothing if they are on other disks. */
  readonly otherCost?: OtherCost | undefined;
}

/** The reduction of this class's reported capacity for each byte of the driver's other classes, in thousandths of a byte. */
export interface OtherCost {
  readonly leastMilli: number;
  readonly mostMilli: number;
}

/**
 * Compares a new report of a pool with what its volumes explain, and returns the record to store beside the report.
 *
 * CSI has no field for the total of a pool. So each report is compared with an earlier one, the baseline: the free bytes should have changed by
 * the volumes that were created and deleted since. The baseline is the first report at which no volume was being created or deleted; until
 * there is one, the result is undefined. The function depends on its arguments only, and the same report twice gives the same record: a
 * publisher may die before or after any write.
 */
export function driftOf(record: DriftRecord | undefined, pool: MeasuredPool): DriftRecord | undefined {
  const last = withList(capacityReportOf(pool), record?.last, pool.listed);
  const { unsureBytes } = pool.volumes;
  if (record === undefined && unsureBytes > 0n) return undefined;
  const baseline = baselineOf(record, last);
  const difference = record === undefined ? 0n : differenceFrom(baseline, pool);
  const share = listedShare({ baseline, last, difference, listed: pool.listed, before: record?.listed });
  const listed = share === undefined ? {} : { listed: share.list };
  const kind = kindOf(record, pool, difference, share);
  // Volumes in flight may hide a known difference for a moment. Its begin must not be forgotten.
  if (record !== undefined && kind === 'none' && unsureBytes > 0n) return record;
  if (kind === 'none') return { ...noDrift, baseline, last, ...listed };
  const continues =
    record?.since !== undefined && (record.kind === kind || before(record, difference) !== 0n);
  return {
    baseline,
    last,
    kind,
    difference: quantityOfBytes(difference),
    since: continues ? record.since : last.measuredAt,
    ...listed,
  };
}

/** A list that arrives later tells what the baseline already had, if nothing has differed since. */
function baselineOf(record: DriftRecord | undefined, last: DriftCapacityReport): DriftCapacityReport {
  if (record === undefined) return last;
  const { baseline, kind } = record;
  if (baseline.foreign !== undefined || last.foreign === undefined || kind !== 'none') return baseline;
  return { ...baseline, foreign: last.foreign, leaked: last.leaked ?? '0', lost: last.lost ?? '0' };
}

const noDrift = { kind: 'none', difference: '0' } as const;

/** Drivers allocate in extents and write their own data beside a volume: a difference of this size per volume is not drift. */
const overheadBytesPerVolume = 4n * 1024n ** 2n;
/** The part of the pool that a driver may use for its own metadata: one thousandth. */
const overheadDivisor = 1000n;

function capacityReportOf({ measuredAtMs, freeBytes, volumes }: MeasuredPool): DriftCapacityReport {
  return {
    measuredAt: new Date(measuredAtMs).toISOString(),
    free: quantityOfBytes(freeBytes),
    ours: quantityOfBytes(volumes.oursBytes),
    otherClasses: quantityOfBytes(volumes.otherClassesBytes),
  };
}

/**
 * The part of the change of the free capacity that no volume explains. Whether the volumes of other classes are on the same disks is not
 * published, so the assumption that explains more counts: a pool is better not suspected than suspected for a volume of ours.
 */
function differenceFrom(baseline: DriftCapacityReport, { freeBytes, volumes }: MeasuredPool): bigint {
  const { oursBytes, otherClassesBytes, unsureBytes, count, otherCost } = volumes;
  const alone = bytesOf(baseline.free) + bytesOf(baseline.ours) - oursBytes;
  const freed = bytesOf(baseline.otherClasses) - otherClassesBytes;
  const outside = freedRanges(freed, otherCost).map(([least, most]) =>
    distance(freeBytes, alone + least - unsureBytes, alone + most),
  );
  const difference = outside.reduce((a, b) => (magnitude(b) < magnitude(a) ? b : a));
  const total = bytesOf(baseline.free) + bytesOf(baseline.ours) + bytesOf(baseline.otherClasses);
  const tolerance = overheadBytesPerVolume * BigInt(count + 1) + total / overheadDivisor;
  return magnitude(difference) <= tolerance ? 0n : difference;
}

/** The bytes that volumes of other classes deleted since the baseline, less those created, may have added to the report. */
function freedRanges(freed: bigint, cost: OtherCost | undefined): readonly (readonly [bigint, bigint])[] {
  if (cost === undefined) {
    return [
      [0n, 0n],
      [freed, freed],
    ];
  }
  const ends = [cost.leastMilli, cost.mostMilli].map((milli) => (freed * BigInt(milli)) / 1000n);
  const [a = 0n, b = 0n] = ends;
  return [a < b ? [a, b] : [b, a]];
}

function distance(value: bigint, least: bigint, most: bigint): bigint {
  if (value < least) return value - least;
  return value > most ? value - most : 0n;
}

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value;
}

/** The difference of the last record, if it has the same sign. */
function before(record: DriftRecord, difference: bigint): bigint {
  const known = bytesOf(record.difference);
  return difference !== 0n && known !== 0n && known < 0n === difference < 0n ? known : 0n;
}

function kindOf(
  record: DriftRecord | undefined,
  pool: MeasuredPool,
  difference: bigint,
  share: ListShare | undefined,
): DriftKind {
  if (share?.kind !== undefined) return share.kind;
  if (difference === 0n) return 'none';
  if (difference > 0n) return 'grown';
  return record !== undefined && isLeak(record, pool, difference) ? 'leak' : 'foreign-use';
}

/** Without a list. The largest change decides: a known leak remains one if a little more is missing later. */
function isLeak(record: DriftRecord, { volumes }: MeasuredPool, difference: bigint): boolean {
  const known = before(record, difference);
  const isKnown = known < 0n && magnitude(difference - known) < magnitude(known);
  const deleted =
    bytesOf(record.last.ours) +
    bytesOf(record.last.otherClasses) -
    volumes.oursBytes -
    volumes.otherClassesBytes;
  return isKnown ? record.kind === 'leak' : deleted > 0n && known - difference <= deleted;
}
