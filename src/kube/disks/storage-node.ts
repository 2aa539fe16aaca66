import type { Condition, KubeObject } from '../api/meta.ts';
import type { Resource } from '../resource.ts';
import { stowageGroup, stowageVersion } from '../stowage.ts';
import type { DiskCapacitySettings } from './disk-settings.ts';

/** A node that keeps replicas, with its disks: `stowage.dev/v1alpha1`, cluster-scoped. docs/kinds.md describes each field. */
export interface StorageNode extends KubeObject {
  readonly spec?: StorageNodeSpec;
  readonly status?: StorageNodeStatus;
}

export interface StorageNodeSpec {
  readonly allowScheduling?: boolean;
  readonly evictionRequested?: boolean;
  readonly tags?: readonly string[];
  readonly disks?: Readonly<Record<string, StorageDisk>>;
}

export interface StorageDisk extends DiskCapacitySettings {
  readonly path?: string;
  readonly diskType?: 'filesystem' | 'block';
  readonly allowScheduling?: boolean;
  readonly evictionRequested?: boolean;
  readonly storageReserved?: number;
  readonly tags?: readonly string[];
}

export interface StorageNodeStatus {
  readonly observedGeneration?: number;
  readonly region?: string;
  readonly zone?: string;
  /** Where the node's agent takes uploads of images. */
  readonly upload?: { readonly url: string; readonly certificateSHA256?: string };
  readonly diskStatus?: Readonly<Record<string, StorageDiskStatus>>;
  readonly conditions?: readonly Condition[];
}

export interface StorageDiskStatus {
  readonly diskUUID?: string;
  /** ext4, xfs … */
  readonly filesystemType?: string;
  readonly storageMaximum?: number;
  /** Free bytes, plus what our own replicas and copies occupy already. */
  readonly storageAvailable?: number;
  readonly conditions?: readonly Condition[];
}

export const storageNodes: Resource<StorageNode> = {
  group: stowageGroup,
  version: stowageVersion,
  namespaced: false,
  kind: 'StorageNode',
  plural: 'storagenodes',
  isOptional: true,
};

/** On a StorageNode or DiskSchedule, with the value `true`: disks that do not answer are given up, with everything on them. */
export const forceRemovalKey = 'stowage.dev/force-removal';
