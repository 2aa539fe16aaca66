import type { Condition, KubeObject, Timestamp } from '../api/meta.ts';
import type { Resource } from '../resource.ts';
import { stowageGroup, stowageVersion } from '../stowage.ts';

/** A volume of one or more replicas: `stowage.dev/v1alpha1`, cluster-scoped. docs/kinds.md describes each field. */
export interface DiskVolume extends KubeObject {
  readonly spec?: DiskVolumeSpec;
  readonly status?: DiskVolumeStatus;
}

export interface DiskVolumeSpec {
  readonly size?: number;
  readonly numberOfReplicas?: number;
  readonly nodeSelector?: readonly string[];
  readonly diskSelector?: readonly string[];
  /** The BackingImage that it begins with. */
  readonly backingImage?: string;
  readonly antiAffinity?: Partial<Readonly<Record<'node' | 'zone' | 'disk', 'hard' | 'soft'>>>;
}

export interface DiskVolumeStatus {
  readonly observedGeneration?: number;
  readonly size?: number;
  /** The last expansion that was begun. */
  readonly expansion?: {
    readonly size: number;
    readonly state: 'Requested' | 'Committed' | 'Withdrawn';
  };
  readonly refusedExpansion?: {
    readonly size: number;
    /** The UUID of the disk that refused. */
    readonly diskID: string;
    readonly message: string;
    readonly time: Timestamp;
  };
  readonly conditions?: readonly Condition[];
}

export const diskVolumes: Resource<DiskVolume> = {
  group: stowageGroup,
  version: stowageVersion,
  namespaced: false,
  kind: 'Volume',
  plural: 'volumes',
  isOptional: true,
};

/** The provisioner of classes whose claims get Volumes, and the CSI driver in their PersistentVolumes. */
export const disksDriver = 'disks.stowage.dev';

/** On a Volume: the uid of the claim that it was made for. */
export const claimUidKey = 'stowage.dev/claim-uid';
