/**
 * The rule on drives: whether a drive takes a new volume, and which of several drives is the best. The CSI driver applies it to its index, and
 * the scheduler to its pools, so that CreateVolume accepts the drive that a plan chose.
 *
 * The kind and the topology that a volume requires are in `drive-requirements.ts`: both callers find the drives that have them by an index.
 */

/** A drive as the rule reads it. */
export interface CandidateDrive {
  /** Whether it takes no new volumes, whatever they require. */
  readonly isExcluded: boolean;
  /** The capacity less the ledger and the volumes in flight. Below zero if the capacity fell. */
  readonly freeBytes: number;
  readonly capacityBytes: number;
  /** Whether it has, or is about to get, a volume of the group. */
  hasGroup(group: string): boolean;
}

/** The requirements of a volume on its drive, besides the bytes. */
export interface VolumeConditions {
  /** The drive must not have a volume of the same group. */
  readonly spreadGroup?: string | undefined;
  /** This percentage of the drive's capacity stays free beside the volume. */
  readonly growthReservePercent?: number | undefined;
}

export type DriveObstacle = 'Excluded' | 'SameGroup' | 'TooFewBytes';

/** Why the drive does not take the volume; undefined if it does. */
export function obstacleOn(
  drive: CandidateDrive,
  bytes: number,
  { spreadGroup, growthReservePercent }: VolumeConditions,
): DriveObstacle | undefined {
  if (drive.isExcluded) return 'Excluded';
  if (spreadGroup !== undefined && drive.hasGroup(spreadGroup)) return 'SameGroup';
  const neededBytes = bytes + growthReserveBytes(drive.capacityBytes, growthReservePercent);
  return drive.freeBytes >= neededBytes ? undefined : 'TooFewBytes';
}

/** Sorts the best drive first, which has the most free bytes. Equal drives are equally good. */
export function compareFreeBytes(freeBytes: number, otherFreeBytes: number): number {
  return otherFreeBytes - freeBytes;
}

/** The bytes of a drive that new volumes leave free, so that the volumes on it can grow. Rounded up: never less than the percentage. */
export function growthReserveBytes(capacityBytes: number, percent: number | undefined): number {
  if (percent === undefined || percent === 0) return 0;
  return Number((BigInt(capacityBytes) * BigInt(percent) + 99n) / 100n);
}
