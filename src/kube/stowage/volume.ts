import type { Condition, KubeObject, Timestamp } from '../api/meta.ts';
import type { Resource } from '../resource.ts';
import { stowageGroup, stowageVersion } from './driver-capacity.ts';

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
  /** `creating` until a replica has data, then `detached`: the controller `disks` attaches nothing. Other programs may write the other values. */
  readonly state?: 'creating' | 'attaching' | 'attached' | 'detaching' | 'detached' | 'deleting';
  /** Anything but `unknown` says that the volume has had data. */
  readonly robustness?: 'healthy' | 'degraded' | 'faulted' | 'unknown';
  /** When it became faulted; a user who gives its data up names this time. */
  readonly faultedAt?: Timestamp;
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

/**
 * On a Volume that is faulted: a user gives its data up, and it begins with empty replicas. The value is the volume's `status.faultedAt`, so it says nothing about a
 * later fault, and can stay.
 */
export const acceptDataLossKey = 'stowage.dev/accept-data-loss';

/** Whether a user has accepted the loss of the data of the volume, and no replica has become healthy since. */
export function isDataLossAccepted({ metadata, status }: Pick<DiskVolume, 'metadata' | 'status'>): boolean {
  const { faultedAt } = status ?? {};
  return faultedAt !== undefined && metadata?.annotations?.[acceptDataLossKey] === faultedAt;
}

/** Whether it is recorded that some replica of the volume had all of the data. */
export function hasVolumeData({ status }: Pick<DiskVolume, 'status'>): boolean {
  return (status?.robustness ?? 'unknown') !== 'unknown';
}

/** On a Volume: the uid of the claim that it was made for. */
export const claimUidKey = 'stowage.dev/claim-uid';
