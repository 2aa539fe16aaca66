import type { Condition, KubeObject } from '../api/meta.ts';
import type { Resource } from '../resource.ts';
import { labels } from '../well-known.ts';
import type { DiskCapacitySettings } from './disk-settings.ts';
import { stowageGroup, stowageVersion } from './driver-capacity.ts';

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
  /** The Lease in `agentLeaseNamespace` that the node's agent renews; left out without an agent of ours. */
  readonly agentLease?: string;
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

/** Where the Leases of disk agents are. */
export const agentLeaseNamespace = 'kube-system';

/** On the Leases of disk agents, with the value `disk-agent`. */
export const agentLeaseLabel = labels.component;

/** The Lease of the agent of a node. */
export function agentLeaseName(nodeName: string): string {
  return `stowage-disk-heartbeat-${nodeName}`;
}

/**
 * A node whose Lease was not renewed for this time is not ready. As for kubelets: they renew every ten seconds, so three renewals may
 * fail.
 */
export const agentLeaseSeconds = 40;

/** The reason of the condition `Ready` of a StorageNode whose agent does not renew its Lease. */
export const agentLostReason = 'AgentLost';

/** The value `true` on a StorageNode or DiskSchedule removes its disks that do not respond, with everything on them. */
export const forceRemovalKey = 'stowage.dev/force-removal';
