import type { Size } from '../../size.ts';
import type { NodeReason } from '../reasons.ts';

/** One thing that stands in the way on one node, in detail. */
export interface Finding {
  readonly rule: string;
  readonly reason: NodeReason;
  /** The claim it is about, as `namespace/name`; or the pod's volume, for inline ones. */
  readonly claim: string | undefined;
  /** What would have served, and what stopped it; the closest first. */
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
  /** Part of what is reported free that others have been promised. */
  readonly promised: Size;
}

/** Of volumes that a node can attach. */
export interface SlotMargin {
  readonly unit: 'volumes';
  readonly driver: string;
  readonly needed: number;
  readonly free: number;
}

/** Of what a node has to give to pods: cpu in cores, memory in bytes, anything else in its own unit. */
export interface ResourceMargin {
  readonly unit: 'resource';
  readonly resource: string;
  readonly needed: number;
  readonly free: number;
}

/** A volume or pool that came close. */
export interface StorageCandidate {
  readonly kind: 'volume' | 'pool';
  readonly name: string;
  readonly obstacles: readonly Obstacle[];
}

export interface Obstacle {
  readonly code: ObstacleCode;
  readonly margin: ByteMargin | undefined;
}

/** What can stop one volume or pool from serving one claim. */
export const obstacles = {
  TooSmall: 'it is smaller than the request',
  OtherClass: 'it is of another class',
  OtherMode: 'its volume mode is another one',
  OtherAttributesClass: 'its volume attributes class is another one',
  MissingAccessMode: 'it does not offer an access mode that is asked for',
  LabelsDiffer: "its labels do not match the claim's selector",
  NotAvailable: 'it is not in phase Available',
  ClaimedByOther: 'it is bound to, or reserved for, another claim',
  Deleting: 'it is being deleted',
  OtherNode: 'it cannot be reached from this node',
  Malformed: 'its size cannot be read',
  TakenBySibling: 'another claim of the same pod takes it',
  InsufficientCapacity: 'it has too little room left',
  VolumeTooLarge: 'it makes no single volume that large',
  Expired: 'its figures are too old to be believed',
  Busy: 'it has a volume in flight, and its driver takes one at a time',
} as const;

export type ObstacleCode = keyof typeof obstacles;
