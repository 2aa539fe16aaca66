import type { Note } from '../view/note.ts';

/** The output of `disks list -o json`. Within a version, fields are only added and never change their meaning. */
export interface DisksReport {
  readonly apiVersion: 'stowage.dev/disks/v1';
  readonly kind: 'DisksReport';
  readonly disks: readonly DiskLine[];
  readonly notes: readonly Note[];
}

/**
 * - `Ready`: it takes new replicas and copies.
 * - `Disabled`: it takes no new ones, because `allowScheduling` is false.
 * - `Evicting`: its replicas and copies move to other disks.
 * - `OverCommitted`: more is scheduled than the limit.
 * - `Removed`: it is not in `spec.disks` of its StorageNode any more, or was abandoned.
 * - `NotReady`: nothing is known about it now.
 */
export type DiskLineState = 'Ready' | 'Disabled' | 'Evicting' | 'OverCommitted' | 'Removed' | 'NotReady';

export interface DiskLine {
  readonly node: string;
  readonly disk: string;
  /** Absent until the node has reported it. */
  readonly uuid?: string | undefined;
  readonly state: DiskLineState;
  /** Why the state is another one than Ready. */
  readonly message?: string | undefined;
  readonly path?: string | undefined;
  readonly zone?: string | undefined;
  readonly tags: readonly string[];
  readonly nodeTags: readonly string[];
  /** Absent while unknown; so is `freeBytes`. */
  readonly limitBytes?: number | undefined;
  /** The sum of what was granted. */
  readonly scheduledBytes: number;
  /** Bytes that are requested beyond that and have no verdict yet. */
  readonly pendingBytes: number;
  /** The limit less what is scheduled; negative if the disk is over-committed. */
  readonly freeBytes?: number | undefined;
  readonly replicaCount: number;
  readonly imageCount: number;
  readonly pendingCount: number;
  readonly rejectedCount: number;
}

/**
 * - `scheduled`: all requested bytes are granted.
 * - `pending`: there is no verdict on the requested size yet.
 * - `rejected`: the disk has rejected the request; it keeps the bytes that were granted before.
 * - `releasing`: its request was removed.
 */
export type DiskEntryState = 'scheduled' | 'pending' | 'rejected' | 'releasing';

/** One user of a disk's bytes. */
export interface DiskEntryLine {
  readonly kind: 'replica' | 'image';
  readonly name: string;
  /** The Volume of a replica. */
  readonly volume?: string | undefined;
  /** `NAMESPACE/NAME` of the claim of the Volume. */
  readonly claim?: string | undefined;
  readonly requestedBytes: number;
  readonly scheduledBytes: number;
  readonly state: DiskEntryState;
  readonly reason?: string | undefined;
  /** Missing bytes, if the disk is too small. */
  readonly missingBytes?: number | undefined;
}

/** The output of `disks describe` for a disk. */
export interface DiskDescription extends DiskLine {
  readonly apiVersion: 'stowage.dev/disks/v1';
  readonly kind: 'DiskDescription';
  readonly capacity: DiskCapacity;
  readonly entries: readonly DiskEntryLine[];
  readonly notes: readonly Note[];
}

/** The values that the limit of a disk is computed from. */
export interface DiskCapacity {
  readonly policy: string;
  readonly policyFrom: 'disk' | 'settings' | 'default';
  /** A percentage; only with the policy OverProvision. */
  readonly overProvisioningPercentage?: number | undefined;
  readonly storageMaximumBytes?: number | undefined;
  readonly storageAvailableBytes?: number | undefined;
  readonly storageReservedBytes: number;
}

/** The output of `disks describe` for a StorageNode. */
export interface StorageNodeDescription {
  readonly apiVersion: 'stowage.dev/disks/v1';
  readonly kind: 'StorageNodeDescription';
  readonly node: string;
  readonly zone?: string | undefined;
  readonly region?: string | undefined;
  readonly state: 'Ready' | 'NotReady' | 'Unknown';
  readonly message?: string | undefined;
  readonly allowScheduling: boolean;
  readonly evictionRequested: boolean;
  readonly tags: readonly string[];
  /** Where its agent takes uploads of images. */
  readonly uploadURL?: string | undefined;
  readonly disks: readonly DiskLine[];
  /** The replicas and copies that are still on evicted disks. */
  readonly evictions: readonly EvictionLine[];
  readonly notes: readonly Note[];
}

/**
 * - `Moving`: a new disk was chosen; the replica or copy is removed once the new one is complete.
 * - `Waiting`: nothing has been decided yet.
 * - `Leaving`: it is being deleted.
 * - `Blocked`: it can't move; the message says why.
 */
export type EvictionState = 'Moving' | 'Waiting' | 'Leaving' | 'Blocked';

/** One replica or copy on a disk that is evicted. */
export interface EvictionLine {
  readonly kind: 'replica' | 'image';
  readonly name: string;
  readonly volume?: string | undefined;
  readonly node: string;
  readonly disk: string;
  readonly sizeBytes: number;
  readonly state: EvictionState;
  readonly message: string;
}

/** The output of `disks evict`. */
export interface EvictionReport {
  readonly apiVersion: 'stowage.dev/disks/v1';
  readonly kind: 'EvictionReport';
  /** `node/NAME` or `disk/NODE/NAME`. */
  readonly target: string;
  readonly evictionRequested: boolean;
  readonly remaining: readonly EvictionLine[];
}

/** The output of `disks list --volumes`. */
export interface DiskVolumesReport {
  readonly apiVersion: 'stowage.dev/disks/v1';
  readonly kind: 'DiskVolumesReport';
  readonly volumes: readonly DiskVolumeLine[];
  readonly notes: readonly Note[];
}

export interface DiskVolumeLine {
  readonly volume: string;
  /** `NAMESPACE/NAME`. */
  readonly claim?: string | undefined;
  /** The size that is wanted. */
  readonly sizeBytes: number;
  /** The size that every replica has; absent until all have been placed for the first time. */
  readonly currentBytes?: number | undefined;
  readonly replicasWanted: number;
  /** Replicas whose disk has granted their bytes. */
  readonly replicasPlaced: number;
  /** Replicas that have all of the data, on disks that answer. */
  readonly replicasHealthy: number;
  /** `healthy`, `degraded`, `faulted`, or `unknown` before a replica has had all of the data. */
  readonly robustness: string;
  /** `Allocated`, `Deleting`, `Unknown`, or the reason of the condition DiskAllocation. */
  readonly state: string;
  readonly message?: string | undefined;
}

/** The output of `disks describe` for a Volume. */
export interface DiskVolumeDescription extends DiskVolumeLine {
  readonly apiVersion: 'stowage.dev/disks/v1';
  readonly kind: 'DiskVolumeDescription';
  readonly nodeSelector: readonly string[];
  readonly diskSelector: readonly string[];
  readonly antiAffinity: { readonly node: string; readonly zone: string; readonly disk: string };
  readonly backingImage?: string | undefined;
  /** Why replicas can't begin with the image yet. */
  readonly backingImageMessage?: string | undefined;
  readonly replicas: readonly ReplicaLine[];
  readonly refusedExpansion?:
    | {
        readonly sizeBytes: number;
        readonly node?: string | undefined;
        readonly disk?: string | undefined;
        readonly message: string;
        readonly time: string;
      }
    | undefined;
  readonly notes: readonly Note[];
}

export interface ReplicaLine {
  readonly replica: string;
  /** Absent until it has been assigned to a disk. */
  readonly node?: string | undefined;
  readonly disk?: string | undefined;
  readonly diskUUID?: string | undefined;
  readonly zone?: string | undefined;
  readonly sizeBytes: number;
  readonly scheduledBytes: number;
  /** Bytes of its file, as its agent reports them. */
  readonly fileBytes?: number | undefined;
  readonly state: string;
  readonly message?: string | undefined;
  readonly missingBytes?: number | undefined;
}

/** The output of `disks image list`. */
export interface BackingImagesReport {
  readonly apiVersion: 'stowage.dev/disks/v1';
  readonly kind: 'BackingImagesReport';
  readonly images: readonly ImageLine[];
  readonly notes: readonly Note[];
}

export interface ImageLine {
  readonly image: string;
  /** Absent until a copy exists. */
  readonly sizeBytes?: number | undefined;
  readonly expectedBytes?: number | undefined;
  readonly copiesWanted: number;
  readonly copiesReady: number;
  /** Progress of the most complete copy, in percent. */
  readonly progressPercent?: number | undefined;
  /** `Ready`, `Deleting`, `Unknown`, or the reason why it is not ready. */
  readonly state: string;
  readonly message?: string | undefined;
  readonly source: string;
}

/** The output of `disks describe` for a BackingImage. */
export interface BackingImageDescription extends ImageLine {
  readonly apiVersion: 'stowage.dev/disks/v1';
  readonly kind: 'BackingImageDescription';
  readonly checksum?: string | undefined;
  readonly nodeSelector: readonly string[];
  readonly diskSelector: readonly string[];
  readonly copies: readonly ImageCopyLine[];
  /** Volumes that begin with it; absent if Volumes could not be read. */
  readonly volumes?: readonly string[] | undefined;
  readonly notes: readonly Note[];
}

export interface ImageCopyLine {
  readonly node?: string | undefined;
  readonly disk?: string | undefined;
  readonly diskUUID: string;
  readonly state: string;
  readonly progressPercent?: number | undefined;
  readonly scheduledBytes: number;
  readonly evictionRequested: boolean;
  readonly message?: string | undefined;
}
