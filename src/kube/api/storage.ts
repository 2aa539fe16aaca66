// Generated from the Go types of Kubernetes; do not edit. To regenerate: npm run generate
// As read from any cluster or file: any field may be missing, nothing may be changed.
import type { PersistentVolumeReclaimPolicy, PersistentVolumeSpec, TopologySelectorTerm } from './core.ts';
import type { Int64, KubeObject, LabelSelector, QuantityText, StringMap, Timestamp } from './meta.ts';

export type FSGroupPolicy = 'ReadWriteOnceWithFSType' | 'File' | 'None';

export type VolumeBindingMode = 'Immediate' | 'WaitForFirstConsumer';

export type VolumeLifecycleMode = 'Persistent' | 'Ephemeral';

/** Cluster-scoped. */
export interface CSIDriver extends KubeObject {
  readonly spec?: CSIDriverSpec;
}

export interface CSIDriverSpec {
  /** Absent means true: the driver needs a VolumeAttachment before a volume is used. */
  readonly attachRequired?: boolean;
  readonly podInfoOnMount?: boolean;
  readonly volumeLifecycleModes?: readonly VolumeLifecycleMode[];
  /** True: the scheduler uses CSIStorageCapacity objects, and finds no space where there are none. */
  readonly storageCapacity?: boolean;
  readonly fsGroupPolicy?: FSGroupPolicy;
  readonly tokenRequests?: readonly TokenRequest[];
  readonly requiresRepublish?: boolean;
  readonly seLinuxMount?: boolean;
  readonly nodeAllocatableUpdatePeriodSeconds?: Int64;
  readonly serviceAccountTokenInSecrets?: boolean;
  /**
   * True: a node whose CSINode lacks this driver is refused; otherwise such a node counts as without limit.
   */
  readonly preventPodSchedulingIfMissing?: boolean;
}

/**
 * Cluster-scoped. Has the name of its node; says which drivers run there and how many volumes each can
 * attach.
 */
export interface CSINode extends KubeObject {
  readonly spec?: CSINodeSpec;
}

export interface CSINodeDriver {
  readonly name?: string;
  readonly nodeID?: string;
  readonly topologyKeys?: readonly string[];
  readonly allocatable?: VolumeNodeResources;
}

export interface CSINodeSpec {
  readonly drivers?: readonly CSINodeDriver[];
}

/** How much capacity one class has in one part of the cluster. Namespaced. */
export interface CSIStorageCapacity extends KubeObject {
  /** Absent: no node at all. Empty selector: every node. */
  readonly nodeTopology?: LabelSelector;
  readonly storageClassName?: string;
  readonly capacity?: QuantityText;
  /** The largest single volume; where it is set, it is compared with the request instead of `capacity`. */
  readonly maximumVolumeSize?: QuantityText;
}

/** Cluster-scoped. */
export interface StorageClass extends KubeObject {
  readonly provisioner?: string;
  readonly parameters?: StringMap;
  readonly reclaimPolicy?: PersistentVolumeReclaimPolicy;
  readonly mountOptions?: readonly string[];
  readonly allowVolumeExpansion?: boolean;
  readonly volumeBindingMode?: VolumeBindingMode;
  readonly allowedTopologies?: readonly TopologySelectorTerm[];
}

export interface TokenRequest {
  readonly audience?: string;
  readonly expirationSeconds?: Int64;
}

/** Cluster-scoped. */
export interface VolumeAttachment extends KubeObject {
  readonly spec?: VolumeAttachmentSpec;
  readonly status?: VolumeAttachmentStatus;
}

export interface VolumeAttachmentSource {
  readonly persistentVolumeName?: string;
  readonly inlineVolumeSpec?: PersistentVolumeSpec;
}

export interface VolumeAttachmentSpec {
  readonly attacher?: string;
  readonly source?: VolumeAttachmentSource;
  readonly nodeName?: string;
}

export interface VolumeAttachmentStatus {
  readonly attached?: boolean;
  readonly attachmentMetadata?: StringMap;
  readonly attachError?: VolumeError;
  readonly detachError?: VolumeError;
}

/** Cluster-scoped. */
export interface VolumeAttributesClass extends KubeObject {
  readonly driverName?: string;
  readonly parameters?: StringMap;
}

export interface VolumeError {
  readonly time?: Timestamp | null;
  readonly message?: string;
  readonly errorCode?: number;
}

export interface VolumeNodeResources {
  /** No count means no limit. */
  readonly count?: number;
}
