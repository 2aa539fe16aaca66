import type { Condition, KubeObject } from '../api/meta.ts';
import type { Resource } from '../resource.ts';
import { stowageGroup, stowageVersion } from '../stowage.ts';

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

export interface StorageDisk {
  readonly path?: string;
  readonly allowScheduling?: boolean;
  readonly evictionRequested?: boolean;
  readonly storageReserved?: number;
  readonly tags?: readonly string[];
}

export interface StorageNodeStatus {
  readonly region?: string;
  readonly zone?: string;
  readonly diskStatus?: Readonly<Record<string, StorageDiskStatus>>;
  readonly conditions?: readonly Condition[];
}

export interface StorageDiskStatus {
  readonly diskUUID?: string;
  readonly storageMaximum?: number;
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
