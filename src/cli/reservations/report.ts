import type { Note } from '../source/note.ts';
import type { Reach } from './reach.ts';

/**
 * What `stowage reservations` says, for programs. Within a version, fields are added and never change their meaning. Amounts are
 * quantities as Kubernetes writes them.
 */
export interface ReservationsReport {
  readonly apiVersion: 'stowage.dev/reservations/v1';
  readonly kind: 'ReservationsReport';
  readonly volumes: readonly HeldVolume[];
  readonly claims: readonly ClaimInFlight[];
  readonly pools: readonly PromisedPool[];
  readonly pods: readonly NominatedPod[];
  readonly notes: readonly Note[];
}

/** A volume whose claimRef names a claim. */
export interface HeldVolume {
  /** `NAMESPACE/NAME`. */
  readonly claim: string;
  readonly volume: string;
  readonly storageClass: string;
  readonly size: string;
  /** Of the volume, as the API says it. */
  readonly phase: string;
  readonly state: HoldState;
  readonly boundBy: BoundBy;
  readonly reach: Reach;
}

/**
 * `Bound`: both sides agree. `InFlightPods`: the volume names the claim, the claim not yet the volume. `Awaited`: kept for a claim that
 * doesn't exist. `Released`: its claim is gone. `Misplaced`: the claim has another volume. `RollingBack`: being undone. `Unknown`: the
 * claim could not be seen.
 */
export type HoldState =
  | 'Bound'
  | 'InFlight'
  | 'Awaited'
  | 'Released'
  | 'Misplaced'
  | 'RollingBack'
  | 'Unknown';

/** Who wrote the claimRef: a PV controller or scheduler, the provisioner that made the volume, or somebody by hand. */
export type BoundBy = 'controller' | 'provisioner' | 'person';

/** A claim with a selected node and no volume yet: the scheduler has spoken, the provisioner hasn't answered. */
export interface ClaimInFlight {
  readonly claim: string;
  readonly node: string;
  readonly storageClass: string;
  readonly size: string;
  /** The pool that the scheduler named. */
  readonly poolHint: string | undefined;
  /** The pool that its bytes are counted against; none where nobody keeps books. */
  readonly pool: string | undefined;
  readonly state: 'Provisioning' | 'RollingBack';
  readonly waitingSince: string | undefined;
  /** Where that is known from: the field's own record, or no better than when the claim was created. */
  readonly waitingSinceFrom: 'selected-node' | 'creation' | undefined;
  /** Who uses it. */
  readonly pods: readonly string[];
}

/** A pool that has been promised to claims in flight. */
export interface PromisedPool {
  readonly pool: string;
  readonly source: 'CSIStorageCapacity' | 'DriverCapacity';
  readonly driver: string | undefined;
  readonly storageClass: string;
  readonly reported: string;
  readonly promised: string;
  /** After all promises, those to other pools on the same disks included; may be negative. */
  readonly free: string;
  readonly claims: readonly { readonly claim: string; readonly size: string; readonly node: string }[];
}

/** A pod for which room is being made on a node. */
export interface NominatedPod {
  readonly pod: string;
  readonly node: string;
  readonly priority: number;
  readonly schedulerName: string;
  readonly waitingSince: string | undefined;
}
