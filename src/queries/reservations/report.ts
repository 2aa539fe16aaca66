import type { PoolForm } from '../../engine/records/pool-record.ts';
import type { PublisherState } from '../../kube/publisher-heartbeat.ts';
import type { ExpansionInFlight } from '../pools/expansions.ts';
import type { Reach } from '../pools/reach.ts';
import type { Note } from '../view/note.ts';

/**
 * The output of `stowage reservations` for programs. Within a version, fields are only added and never change their meaning. Amounts are
 * quantities as Kubernetes writes them.
 */
export interface ReservationsReport {
  readonly apiVersion: 'stowage.dev/reservations/v1';
  readonly kind: 'ReservationsReport';
  readonly volumes: readonly HeldVolume[];
  readonly claims: readonly ClaimInFlight[];
  readonly inlineVolumes: readonly InlineVolumeInFlight[];
  /** Volumes of bound claims that are being expanded. */
  readonly expansions: readonly ExpansionInFlight[];
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
  /** The phase of the volume. */
  readonly phase: string;
  readonly state: HoldState;
  readonly boundBy: BoundBy;
  readonly reach: Reach;
}

/**
 * `Bound`: both sides agree. `InFlight`: the volume names the claim, the claim not yet the volume. `Awaited`: kept for a claim that
 * doesn't exist. `Released`: its claim no longer exists. `Misplaced`: the claim has another volume. `RollingBack`: being undone. `Unknown`: the
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

/** The writer of the claimRef: a PV controller or scheduler, the provisioner that created the volume, or a user. */
export type BoundBy = 'controller' | 'provisioner' | 'person';

/** A claim with a selected node and no volume yet: the scheduler has decided, and the provisioner has not answered. */
export interface ClaimInFlight {
  readonly claim: string;
  readonly node: string;
  readonly storageClass: string;
  readonly size: string;
  /** The pool that the scheduler named. */
  readonly poolHint: string | undefined;
  /** The pool that its bytes are counted against; undefined if the driver publishes no capacity. */
  readonly pool: string | undefined;
  readonly state: 'Provisioning' | 'RollingBack';
  readonly waitingSince: string | undefined;
  /** The source of that time: the record of the field's manager, or else the creation of the claim. */
  readonly waitingSinceFrom: 'selected-node' | 'creation' | undefined;
  /** The pods that use it. */
  readonly pods: readonly string[];
}

/** An inline volume of a pod that has its node: the pool's capacity report may not include it yet. It is not a claim. */
export interface InlineVolumeInFlight {
  /** `NAMESPACE/NAME`. */
  readonly pod: string;
  /** The name of the volume in the pod. */
  readonly volume: string;
  readonly node: string;
  readonly size: string;
  /** The pool that its bytes are counted against. */
  readonly pool: string | undefined;
}

/** A pool with bytes that are promised to claims in flight and to inline volumes. */
export interface PromisedPool {
  readonly pool: string;
  readonly source: PoolForm;
  readonly driver: string | undefined;
  readonly storageClass: string;
  /** The sum of free, used and promised bytes; undefined if one of them is unknown, or `reported` does not mean free bytes. */
  readonly total?: string | undefined;
  /** The sizes of the known volumes that the report includes; undefined if it is unknown which volumes are in the pool. */
  readonly used?: string | undefined;
  readonly reported: string;
  readonly promised: string;
  /** The free bytes after all promises, including those of other pools on the same disks; may be negative. */
  readonly free: string;
  /** When the driver was asked for the report, or else when the object was last written. */
  readonly measuredAt?: string | undefined;
  /** Whether the publisher runs; undefined if that is unknown. */
  readonly publisher?: PublisherState | undefined;
  /** The label `csi.storage.k8s.io/managed-by`; without it, the manager of the object's fields that were written last. */
  readonly publishedBy?: string | undefined;
  readonly claims: readonly ClaimPromise[];
  readonly inlineVolumes: readonly Omit<InlineVolumeInFlight, 'pool'>[];
}

export interface ClaimPromise {
  readonly claim: string;
  readonly size: string;
  readonly node: string;
  /** The claim no longer exists, but its volume does. */
  readonly isDeleted?: true;
  /** The bytes are the growth of its volume. */
  readonly isExpansion?: true;
}

/** A pod that waits on a node for its victims to end. */
export interface NominatedPod {
  readonly pod: string;
  readonly node: string;
  readonly priority: number;
  readonly schedulerName: string;
  readonly waitingSince: string | undefined;
}
