import { ownValue } from '../../../kube/go/json-value.ts';
import type { DiskSchedule, DiskVerdict } from '../../../kube/stowage/disk-schedule.ts';
import type { AntiAffinity, DiskCandidate, DiskPlace } from '../choose-disk.ts';
import type { ReplicaHealth } from './replica-health.ts';

/** Everything that the next steps of a volume depend on. */
export interface VolumeView {
  readonly name: string;
  /** The size in `spec.size`. */
  readonly wantedBytes: number;
  /** The size that every replica has; undefined until all have been placed for the first time. */
  readonly currentBytes: number | undefined;
  readonly numberOfReplicas: number;
  readonly nodeSelector: readonly string[];
  readonly diskSelector: readonly string[];
  readonly antiAffinity: Readonly<Record<'node' | 'zone' | 'disk', AntiAffinity>>;
  readonly replicas: readonly ReplicaView[];
  /** Some replica had all of the data once, and no user has accepted its loss since. */
  readonly hadData: boolean;
  /** Set if a user has decided that the volume, which is faulted, begins with empty replicas. */
  readonly isLossAccepted: boolean;
  /** The command with which a user accepts the loss. */
  readonly acceptCommand: string;
  /** The last expansion that was begun. */
  readonly expansion: VolumeExpansion | undefined;
  /** The last expansion that a disk refused, while it may not be tried again. */
  readonly refusedExpansion: RefusedExpansion | undefined;
}

export interface ReplicaView {
  readonly name: string;
  readonly sizeBytes: number;
  readonly isDeleting: boolean;
  readonly isRunningDesired: boolean;
  /** It had all of the data once, or has failed. */
  readonly hasData: boolean;
  readonly health: ReplicaHealth;
  /** For how long it has failed or could not be reached; undefined if it is not broken. */
  readonly brokenMs: number | undefined;
  /** An instance has begun to remove it. */
  readonly isMarkedForRemoval: boolean;
  /** The node that it names, which is behind if its disk was moved. */
  readonly nodeName: string | undefined;
  /** Undefined until it has been assigned to a disk. */
  readonly place: (DiskPlace & { readonly isEvicted: boolean }) | undefined;
  /** Undefined if its disk has no schedule. */
  readonly entry: DiskEntry | undefined;
  /** No verdict came within the time that a requester waits. */
  readonly isOverdue: boolean;
  readonly rejectedBy: ReadonlySet<string>;
}

/** The replica's request in the schedule of its disk, and the verdict. */
export interface DiskEntry {
  readonly askedBytes: number | undefined;
  readonly verdict: DiskVerdict | undefined;
}

/**
 * An expansion, as the volume's status has it. Every change of its state is one write of the volume with its version, so one that is committed can't
 * be withdrawn, and the other way round.
 */
export interface VolumeExpansion {
  readonly bytes: number;
  readonly state: 'Requested' | 'Committed' | 'Withdrawn';
}

export interface RefusedExpansion {
  readonly bytes: number;
  readonly diskUUID: string;
  readonly message: string;
}

/** One write. Steps are carried out in order; if one fails, the next plan starts from the stored objects. */
export type VolumeStep =
  | { readonly kind: 'create'; readonly replica: string; readonly bytes: number }
  /** `isLossAccepted`: also if no other replica is healthy. */
  | { readonly kind: 'delete'; readonly replica: string; readonly isLossAccepted?: true }
  /** Removes the mark of a removal that was cancelled. */
  | { readonly kind: 'keep'; readonly replica: string }
  | { readonly kind: 'assign'; readonly replica: string; readonly disk: DiskCandidate }
  | { readonly kind: 'request'; readonly replica: string; readonly diskUUID: string; readonly bytes: number }
  /** Only if the schedule is still the one that was read: a verdict that came meanwhile is used. */
  | { readonly kind: 'withdraw'; readonly replica: string; readonly diskUUID: string }
  | { readonly kind: 'unassign'; readonly replica: string; readonly diskUUID: string }
  | { readonly kind: 'start'; readonly replica: string }
  /** Its disk was moved to another node. */
  | { readonly kind: 'follow'; readonly replica: string; readonly nodeName: string }
  /** Its data is lost. */
  | { readonly kind: 'fail'; readonly replica: string; readonly message: string }
  | { readonly kind: 'grow'; readonly replica: string; readonly bytes: number };

export interface DiskVolumePlan {
  /** If it differs from that of the view, it is stored before the first step. */
  readonly expansion: VolumeExpansion | undefined;
  readonly steps: readonly VolumeStep[];
  /** The size that all replicas have now. */
  readonly currentBytes: number | undefined;
  readonly allocation: AllocationState;
  readonly refusedExpansion: RefusedExpansion | undefined;
}

export type AllocationState =
  | { readonly kind: 'allocated'; readonly bytes: number }
  | { readonly kind: 'waiting-for-verdict' }
  /** No disk fits; one with more free bytes may. */
  | { readonly kind: 'waiting-for-disk'; readonly bytes: number; readonly message: string }
  /** The only data was on a disk that has been removed. */
  | { readonly kind: 'disk-removed'; readonly message: string }
  /** It had data, and no replica has it any more. */
  | { readonly kind: 'data-lost'; readonly message: string }
  | { readonly kind: 'expansion-refused'; readonly bytes: number; readonly message: string };

/** The request of a replica in a schedule, and the verdict on it. */
export function entryIn({ spec, status }: Pick<DiskSchedule, 'spec' | 'status'>, replica: string): DiskEntry {
  return { askedBytes: ownValue(spec?.replicas, replica), verdict: ownValue(status?.replicas, replica) };
}

/** The verdict, if it answers the request as it is now. */
export function answerOf(entry: DiskEntry | undefined): DiskVerdict | undefined {
  const { askedBytes, verdict } = entry ?? {};
  return verdict?.observedSize === askedBytes ? verdict : undefined;
}

/** The granted bytes that it still requests: its disk may release the others. */
export function grantedTo({ entry }: ReplicaView): number {
  return Math.min(entry?.askedBytes ?? 0, entry?.verdict?.scheduledSize ?? 0);
}

export function isHealthy({ health }: ReplicaView): boolean {
  return health === 'healthy';
}

/** A replica that is new. */
export function unplacedReplica(name: string, sizeBytes: number): ReplicaView {
  return {
    name,
    sizeBytes,
    isDeleting: false,
    isRunningDesired: false,
    hasData: false,
    health: 'incomplete',
    brokenMs: undefined,
    isMarkedForRemoval: false,
    nodeName: undefined,
    place: undefined,
    entry: undefined,
    isOverdue: false,
    rejectedBy: new Set(),
  };
}

/** A plan without a decision about an expansion. */
export function unfinishedPlan(
  { currentBytes, expansion }: VolumeView,
  steps: readonly VolumeStep[],
): DiskVolumePlan {
  const allocation = { kind: 'waiting-for-verdict' } as const;
  return { steps, currentBytes, expansion, allocation, refusedExpansion: undefined };
}
