import type { Condition, KubeObject, Timestamp } from '../api/meta.ts';
import type { Resource } from '../resource.ts';
import { stowageGroup, stowageVersion } from './driver-capacity.ts';

/** An image that volumes begin with: `stowage.dev/v1alpha1`, cluster-scoped. docs/kinds.md describes each field. */
export interface BackingImage extends KubeObject {
  readonly spec?: BackingImageSpec;
  readonly status?: BackingImageStatus;
}

export interface BackingImageSpec {
  readonly source?: {
    readonly download?: { readonly url?: string };
    readonly upload?: { readonly tokenSHA256?: string };
    readonly volume?: { readonly name?: string };
  };
  /** SHA-512 in hexadecimal. */
  readonly checksum?: string;
  /** Bytes that each copy requests while the size is unknown; without it, an agent reads the length of the source first. */
  readonly expectedSize?: number;
  readonly minNumberOfCopies?: number;
  readonly nodeSelector?: readonly string[];
  readonly diskSelector?: readonly string[];
  /** Where copies should be, by the UUID of the disk. */
  readonly diskFileSpecMap?: Readonly<Record<string, { readonly evictionRequested?: boolean }>>;
}

export interface BackingImageStatus {
  readonly observedGeneration?: number;
  /** Bytes of each copy. Left out while unknown. */
  readonly size?: number;
  /** Bytes that the source had when an agent read its length. Left out if `expectedSize` is set. */
  readonly sourceSize?: number;
  /** Copies by the UUID of their disk, as its agent reports them. */
  readonly diskFileStatusMap?: Readonly<Record<string, BackingImageFile>>;
  /** When a replica last used the copy, by the UUID of the disk. Left out while one does. */
  readonly diskLastUsedMap?: Readonly<Record<string, Timestamp>>;
  readonly conditions?: readonly Condition[];
}

export interface BackingImageFile {
  readonly state: BackingImageFileState;
  /** Percent. */
  readonly progress?: number;
  readonly message?: string;
  readonly lastStateTransitionTime?: Timestamp;
  /** Hash of the token with which the agent of this disk fetches the data from another agent. */
  readonly transferTokenSHA256?: string;
}

export type BackingImageFileState =
  | 'pending'
  | 'starting'
  | 'in-progress'
  | 'ready-for-transfer'
  | 'ready'
  | 'failed'
  | 'unknown';

/** On a BackingImage until the bytes of all of its copies have been released. */
export const backingImageFinalizer = 'stowage.dev/backing-image';

export const backingImages: Resource<BackingImage> = {
  group: stowageGroup,
  version: stowageVersion,
  namespaced: false,
  kind: 'BackingImage',
  plural: 'backingimages',
  isOptional: true,
};
