import type { DriftFigure, DriftKind, DriftRecord } from '../../kube/drift-record.ts';
import { bytesOf, quantityOfBytes } from '../../kube/quantities/bytes.ts';

/** A figure of a pool, and the volumes that it should include. */
export interface MeasuredPool {
  /** When the driver was asked, before the answer. */
  readonly measuredAtMs: number;
  /** `available_capacity` of GetCapacity, not the largest volume. */
  readonly freeBytes: bigint;
  readonly volumes: PoolVolumes;
}

/** The volumes in a pool's topology segment at the time of a figure. */
export interface PoolVolumes {
  /** The volumes of the pool's class that the figure includes. */
  readonly oursBytes: bigint;
  /** The driver's volumes of other classes that the figure includes if the classes use the same disks. */
  readonly otherClassesBytes: bigint;
  /** Volumes that are being created, expanded or deleted: the figure may include them or not. */
  readonly unsureBytes: bigint;
  readonly count: number;
  /** Volumes that the driver lists and that no PersistentVolume has; undefined if the driver can't list its volumes. */
  readonly foreignBytes?: bigint | undefined;
}

/**
 * Compares a new figure of a pool with what its volumes explain, and returns the record to store beside the figure.
 *
 * CSI has no field for the total of a pool. So figures are compared with an earlier one, the baseline: what is free should have changed by
 * the volumes that were created and deleted since. The baseline is the first figure at which no volume was being created or deleted; until
 * there is one, the result is undefined. The function depends on its arguments only, and the same figure twice gives the same record: a
 * publisher may die before or after any write.
 */
export function driftOf(record: DriftRecord | undefined, pool: MeasuredPool): DriftRecord | undefined {
  const last = figureOf(pool);
  const { unsureBytes } = pool.volumes;
  if (record === undefined) return unsureBytes > 0n ? undefined : { ...noDrift, baseline: last, last };
  const difference = differenceFrom(record.baseline, pool);
  // Volumes in flight may hide a known difference for a moment. Its begin must not be forgotten.
  if (difference === 0n && unsureBytes > 0n) return record;
  const { baseline } = record;
  if (difference === 0n) return { ...noDrift, baseline, last };
  const before = bytesOf(record.difference);
  const isSameSign = before !== 0n && before < 0n === difference < 0n;
  return {
    baseline,
    last,
    kind: kindOf(record, pool, { difference, before: isSameSign ? before : 0n }),
    difference: quantityOfBytes(difference),
    since: isSameSign && record.since !== undefined ? record.since : last.measuredAt,
  };
}

const noDrift = { kind: 'none', difference: '0' } as const;

/** Drivers allocate in extents and write their own data beside a volume: so much per volume is no drift. */
const overheadBytesPerVolume = 4n * 1024n ** 2n;
/** What a driver writes besides, as a part of the pool: one thousandth. */
const overheadDivisor = 1000n;

function figureOf({ measuredAtMs, freeBytes, volumes }: MeasuredPool): DriftFigure {
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
function differenceFrom(baseline: DriftFigure, { freeBytes, volumes }: MeasuredPool): bigint {
  const { oursBytes, otherClassesBytes, unsureBytes, count } = volumes;
  const alone = bytesOf(baseline.free) + bytesOf(baseline.ours) - oursBytes;
  const shared = alone + bytesOf(baseline.otherClasses) - otherClassesBytes;
  const outside = [alone, shared].map((most) => distance(freeBytes, most - unsureBytes, most));
  const difference = outside.reduce((a, b) => (magnitude(b) < magnitude(a) ? b : a));
  const total = bytesOf(baseline.free) + bytesOf(baseline.ours) + bytesOf(baseline.otherClasses);
  const tolerance = overheadBytesPerVolume * BigInt(count + 1) + total / overheadDivisor;
  return magnitude(difference) <= tolerance ? 0n : difference;
}

function distance(value: bigint, least: bigint, most: bigint): bigint {
  if (value < least) return value - least;
  return value > most ? value - most : 0n;
}

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value;
}

interface Change {
  readonly difference: bigint;
  /** The difference before, if it had the same sign. */
  readonly before: bigint;
}

/** The largest change decides: a known leak remains one if a little more is missing later. */
function kindOf(record: DriftRecord, { volumes }: MeasuredPool, { difference, before }: Change): DriftKind {
  if (difference > 0n) return 'grown';
  const isKnown = before < 0n && magnitude(difference - before) < magnitude(before);
  const deleted =
    bytesOf(record.last.ours) +
    bytesOf(record.last.otherClasses) -
    volumes.oursBytes -
    volumes.otherClassesBytes;
  const isLeak = isKnown ? record.kind === 'leak' : deleted > 0n && before - difference <= deleted;
  if (isLeak) return 'leak';
  return volumes.foreignBytes === 0n ? 'shrunk' : 'foreign-use';
}
