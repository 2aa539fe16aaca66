import type { Size } from '../../size.ts';
import type { NodeReason } from '../reasons.ts';

/** One obstacle on one node, in detail. */
export interface Finding {
  readonly rule: string;
  readonly reason: NodeReason;
  /** The claim that it concerns, as `namespace/name`; for an inline volume `namespace/pod:volume`. */
  readonly claim: string | undefined;
  /** Volumes or pools that came close, with their obstacles; the closest first. */
  readonly candidates: readonly StorageCandidate[];
  /** How many more there were. */
  readonly omitted: number;
  readonly margin: Margin | undefined;
}

/** The numbers behind a refusal. */
export type Margin = ByteMargin | SlotMargin | ResourceMargin;

export interface ByteMargin {
  readonly unit: 'bytes';
  readonly needed: Size;
  readonly free: Size;
  /** The part of `free` that is promised to other volumes. */
  readonly promised: Size;
}

/** Volumes that a node can attach. */
export interface SlotMargin {
  readonly unit: 'volumes';
  readonly driver: string;
  readonly needed: number;
  readonly free: number;
}

/** A resource of a node: cpu in cores, memory in bytes, anything else in its own unit. */
export interface ResourceMargin {
  readonly unit: 'resource';
  readonly resource: string;
  readonly needed: number;
  readonly free: number;
}

/** A volume, pool or drive that came close. */
export interface StorageCandidate {
  readonly kind: 'volume' | 'pool' | 'drive';
  readonly name: string;
  /** The key of a pool: pools of several classes may have the same name. */
  readonly poolKey?: string;
  readonly obstacles: readonly Obstacle[];
}

export interface Obstacle {
  readonly code: ObstacleCode;
  readonly margin: ByteMargin | undefined;
  /** More exact than the sentence of the code. */
  readonly detail?: string | undefined;
}

/** Why one volume or pool can't serve one claim. */
export const obstacles = {
  TooSmall: 'it is smaller than the request',
  OtherClass: 'it has another storage class',
  OtherMode: 'it has another volume mode',
  OtherAttributesClass: 'it has another volume attributes class',
  MissingAccessMode: 'it does not offer an access mode that the claim requests',
  LabelsDiffer: "its labels do not match the claim's selector",
  NotAvailable: 'it is not in phase Available',
  ClaimedByOther: 'it is bound to, or reserved for, another claim',
  Deleting: 'it is being deleted',
  OtherNode: 'this node cannot reach it',
  Malformed: 'its size is malformed',
  TakenBySibling: 'another claim of the same pod uses it',
  InsufficientCapacity: 'it has too little free capacity',
  VolumeTooLarge: 'its maximum volume size is smaller than the request',
  Expired: 'its capacity reports have expired',
  PublisherGone: 'its capacity reports are not used: their publisher no longer renews its Lease',
  GrowthReserve: 'it keeps free capacity for expansions, as the class or claim says',
  SameOwner: 'it already has a volume of the same owner, and the class or claim wants them apart',
  NoNewVolumes: 'it takes no new volumes',
  OtherDriveKind: 'it has another access tier or other labels than the volume asks for',
  Busy: 'its driver creates one volume at a time, and one is in progress',
} as const;

export type ObstacleCode = keyof typeof obstacles;
