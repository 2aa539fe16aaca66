import type { Reach } from '../reservations/reach.ts';
import type { Note } from '../source/note.ts';

/**
 * The output of `stowage capacity` for programs. Within a version, fields are only added and never change their meaning. Amounts are quantities
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

/** A StorageClass with a provisioner. */
export interface ClassCapacity {
  readonly storageClass: string;
  readonly provisioner: string;
  /** False if the driver publishes no capacity; a scheduler then assumes that any amount is available. */
  readonly isTracked: boolean;
  readonly poolCount: number;
  /** The sum over its pools, if tracked; pools on the same disks count once, with the largest. */
  readonly reported: string | undefined;
  readonly free: string | undefined;
  /** The sizes of the volumes that were provisioned for it. */
  readonly used?: string | undefined;
  /** The sum over its pools; undefined if one of them is unknown. */
  readonly total?: string | undefined;
  /** The largest single volume that one of its pools could provide now. */
  readonly largestVolume: string | undefined;
}

/** The published capacity of a pool, less what has been promised of it. */
export interface PoolCapacity {
  readonly pool: string;
  readonly source: 'CSIStorageCapacity' | 'DriverCapacity';
  readonly driver: string | undefined;
  readonly storageClass: string;
  readonly reach: Reach;
  /** Undefined if the driver published no number; that counts as no capacity. */
  readonly reported: string | undefined;
  /** The sizes of the provisioned volumes in the pool; undefined if it is unknown which volumes are in it. */
  readonly used?: string | undefined;
  /** `reported` and `used`; undefined if one of them is unknown, or `reported` is not what is free. */
  readonly total?: string | undefined;
  /** Promised to claims in flight by this pool and by pools on the same disks. */
  readonly promised: string;
  /** Negative if more has been promised than is available. */
  readonly free: string;
  readonly largestVolume: string;
  /** True if its figures have expired. */
  readonly isExpired: boolean;
  /** True if its DriverCapacity has no CSIDriver of the same name: the driver may be gone, and its figures may be old. */
  readonly isOrphaned: boolean;
  /** When the driver was asked for the figure, or else when the object was last written. */
  readonly measuredAt?: string | undefined;
  readonly measuredAtFrom?: 'measurement' | 'write' | undefined;
  /** The manager of the object's fields that were written last. */
  readonly publishedBy?: string | undefined;
  /** Other pools on the same disks. */
  readonly sharesWith: readonly string[];
}

/** Pre-provisioned volumes of one class that the same nodes can reach. A local disk can be reached by one node. */
export interface VolumesCapacity {
  readonly storageClass: string;
  readonly reach: Reach;
  readonly count: number;
  readonly total: string;
  readonly freeCount: number;
  readonly free: string;
  readonly largestFree: string;
}
