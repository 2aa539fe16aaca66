import type { BackingImageFileState } from '../../../kube/stowage/backing-image.ts';
import type { DiskPlace } from '../choose-disk.ts';
import type { DiskEntry } from '../volumes/volume-model.ts';

/** Everything that the next steps of a BackingImage depend on. */
export interface ImageView {
  readonly name: string;
  readonly minNumberOfCopies: number;
  /** Bytes that each copy requests; undefined while no size is known at all. */
  readonly bytes: number | undefined;
  /** Whether an agent can read the length of the source before it makes a copy: an upload has none before it begins. */
  readonly hasReadableLength: boolean;
  readonly nodeSelector: readonly string[];
  readonly diskSelector: readonly string[];
  /** One for each disk that the image's spec or status names, or whose schedule has an entry for it; by UUID. */
  readonly copies: readonly CopyView[];
  /** Disks of replicas of Volumes that use the image, with the name of one replica. */
  readonly neededOn: ReadonlyMap<string, string>;
  /** Disks that rejected a copy a while ago. */
  readonly rejectedBy: ReadonlySet<string>;
  /** Disks where a copy failed a while ago. */
  readonly failedOn: ReadonlySet<string>;
  /** A copy failed a while ago and none is ready, so the source may be the cause: no disk is tried now. */
  readonly isSourceFailing: boolean;
  /** It has the finalizer. */
  readonly isProtected: boolean;
  /** `blocked`: it is being deleted, and a Volume uses it. */
  readonly deletion: 'none' | 'blocked' | 'free';
}

export interface CopyView {
  readonly place: DiskPlace;
  /** The disk's name in the StorageNode. */
  readonly diskName: string;
  /** It is in the image's spec. */
  readonly isWanted: boolean;
  /** Eviction is requested of the copy, its disk or its node. */
  readonly isEvicted: boolean;
  /** Its disk no longer exists: no StorageNode has it, or it was abandoned. */
  readonly isLost: boolean;
  /** Its disk, and the agent of its node, answer. */
  readonly isDiskReady: boolean;
  readonly entry: DiskEntry;
  /** The state that its agent reports; undefined if there is no file. */
  readonly state: BackingImageFileState | undefined;
  /** No verdict came within the time that a requester waits. */
  readonly isOverdue: boolean;
  /** How long no replica has used it. */
  readonly idleMs: number;
}

/** One write. Steps are carried out in order; if one fails, the next plan starts from the stored objects. */
export type ImageStep =
  /** Takes a request back, only if the schedule is still the one that was read: a grant that came meanwhile is used. */
  | { readonly kind: 'withdraw'; readonly diskUUID: string }
  /** One write of the image: which disks should have a copy, and the finalizer if it is missing. */
  | ImagePlaceStep
  | { readonly kind: 'request'; readonly diskUUID: string; readonly bytes: number }
  /** Gives back the bytes of a copy that is not wanted and has no file. */
  | { readonly kind: 'release'; readonly diskUUID: string }
  /** Removes the finalizer. */
  | { readonly kind: 'unprotect' };

export interface ImagePlaceStep {
  readonly kind: 'place';
  readonly add: readonly string[];
  readonly remove: readonly string[];
  /** Disks of `remove` that rejected the copy or did not answer, and those where it failed: they are not tried again soon. */
  readonly rejectedBy: readonly string[];
  readonly failedOn: readonly string[];
}

export interface ImagePlan {
  readonly steps: readonly ImageStep[];
  readonly allocation: ImageAllocation;
}

export type ImageAllocation =
  /** Every copy has its bytes. `staying` says which evicted copies can't go, and why. */
  | {
      readonly kind: 'allocated';
      readonly bytes: number;
      readonly copies: number;
      readonly staying: readonly string[];
    }
  | { readonly kind: 'waiting-for-verdict' }
  /** No bytes are requested before the size is known. `isReadable`: an agent reads it from the source. */
  | { readonly kind: 'size-unknown'; readonly isReadable: boolean }
  | { readonly kind: 'retrying-later' }
  /** No disk fits; one that gains room may. */
  | { readonly kind: 'waiting-for-disk'; readonly bytes: number; readonly message: string };
