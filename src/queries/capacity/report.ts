import type { PoolCapacity } from '../pools/pool-reader.ts';
import type { Reach } from '../pools/reach.ts';
import type { Note } from '../view/note.ts';

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
  /** Whether the class packs or spreads its volumes; undefined: as the scheduler's profile says. */
  readonly placement?: 'pack' | 'spread' | undefined;
  readonly poolCount: number;
  /** The sum over its pools, if tracked; pools on the same disks count once, with the largest. */
  readonly reported: string | undefined;
  readonly free: string | undefined;
  /** The sizes of the volumes that were provisioned for it. */
  readonly used?: string | undefined;
  /** The sum over its pools, with what other classes use of their disks; undefined if one of them is unknown. */
  readonly total?: string | undefined;
  /** The largest single volume that one of its pools could provide now. */
  readonly largestVolume: string | undefined;
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
