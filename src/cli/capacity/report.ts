import type { Reach } from '../reservations/reach.ts';
import type { Note } from '../source/note.ts';

/**
 * What `stowage capacity` says, for programs. Within a version, fields are added and never change their meaning. Amounts are quantities
 * as Kubernetes writes them.
 */
export interface CapacityReport {
  readonly apiVersion: 'stowage.dev/capacity/v1';
  readonly kind: 'CapacityReport';
  readonly classes: readonly ClassCapacity[];
  readonly pools: readonly PoolCapacity[];
  readonly volumes: readonly VolumesCapacity[];
  readonly notes: readonly Note[];
}

/** A StorageClass that makes volumes. */
export interface ClassCapacity {
  readonly storageClass: string;
  readonly provisioner: string;
  /** False where nobody says how much there is; a scheduler then takes any amount to be there. */
  readonly isTracked: boolean;
  readonly poolCount: number;
  /** Of all its pools, where it is tracked; those on the same disks count once, with the largest. */
  readonly reported: string | undefined;
  readonly free: string | undefined;
  /** The largest single volume that any of its pools would make now. */
  readonly largestVolume: string | undefined;
}

/** What a driver publishes, less what has been promised of it. */
export interface PoolCapacity {
  readonly pool: string;
  readonly source: 'CSIStorageCapacity' | 'DriverCapacity';
  readonly driver: string | undefined;
  readonly storageClass: string;
  readonly reach: Reach;
  /** Undefined where the driver published no number, which is no room. */
  readonly reported: string | undefined;
  /** To claims in flight, by this pool and those on the same disks. */
  readonly promised: string;
  /** Negative where more has been promised than there is. */
  readonly free: string;
  readonly largestVolume: string;
  /** Its figures are too old to count. */
  readonly isExpired: boolean;
  /** Other pools on the same disks. */
  readonly sharesWith: readonly string[];
}

/** Existing volumes that nobody provisions: one class, as seen from the same nodes. A local disk's is one node. */
export interface VolumesCapacity {
  readonly storageClass: string;
  readonly reach: Reach;
  readonly count: number;
  readonly total: string;
  readonly freeCount: number;
  readonly free: string;
  readonly largestFree: string;
}
