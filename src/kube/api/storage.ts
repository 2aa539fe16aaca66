import type { PersistentVolumeSpec, TopologySelectorTerm } from './core.ts';
import type { KubeObject, LabelSelector, QuantityText, StringMap, Timestamp } from './meta.ts';

/** `storage.k8s.io/v1`. All kinds but {@link CSIStorageCapacity} are cluster-scoped. */
export interface StorageClass extends KubeObject {
  readonly provisioner?: string;
  readonly parameters?: StringMap;
  readonly reclaimPolicy?: 'Delete' | 'Retain';
  readonly mountOptions?: readonly string[];
  readonly allowVolumeExpansion?: boolean;
  readonly volumeBindingMode?: VolumeBindingMode;
  readonly allowedTopologies?: readonly TopologySelectorTerm[];
}

export type VolumeBindingMode = 'Immediate' | 'WaitForFirstConsumer';

export interface CSIDriver extends KubeObject {
  readonly spec?: CSIDriverSpec;
}

export interface CSIDriverSpec {
  /** Absent means true: the driver needs a VolumeAttachment before a volume is used. */
  readonly attachRequired?: boolean;
  readonly podInfoOnMount?: boolean;
  readonly volumeLifecycleModes?: readonly ('Persistent' | 'Ephemeral')[];
  /** True: the scheduler believes {@link CSIStorageCapacity} objects, and finds no space where there are none. */
  readonly storageCapacity?: boolean;
  readonly fsGroupPolicy?: 'ReadWriteOnceWithFSType' | 'File' | 'None';
  readonly tokenRequests?: readonly { readonly audience?: string; readonly expirationSeconds?: number }[];
  readonly requiresRepublish?: boolean;
  readonly seLinuxMount?: boolean;
  readonly nodeAllocatableUpdatePeriodSeconds?: number;
  readonly serviceAccountTokenInSecrets?: boolean;
  /** True: a node whose CSINode lacks this driver is refused, rather than taken as without limit. */
  readonly preventPodSchedulingIfMissing?: boolean;
}

/** Has the name of its node; tells which drivers run there and how many volumes each can attach. */
export interface CSINode extends KubeObject {
  readonly spec?: { readonly drivers?: readonly CSINodeDriver[] };
}

export interface CSINodeDriver {
  readonly name?: string;
  readonly nodeID?: string;
  readonly topologyKeys?: readonly string[];
  /** No count means no limit. */
  readonly allocatable?: { readonly count?: number };
}

/** How much room one class has in one part of the cluster. The published object is namespaced. */
export interface CSIStorageCapacity extends KubeObject {
  /** Absent: no node at all. Empty selector: every node. */
  readonly nodeTopology?: LabelSelector;
  readonly storageClassName?: string;
  readonly capacity?: QuantityText;
  /** The largest single volume; where it is set, it is compared with the request instead of `capacity`. */
  readonly maximumVolumeSize?: QuantityText;
}

export interface VolumeAttachment extends KubeObject {
  readonly spec?: VolumeAttachmentSpec;
  readonly status?: VolumeAttachmentStatus;
}

export interface VolumeAttachmentSpec {
  readonly attacher?: string;
  readonly nodeName?: string;
  readonly source?: {
    readonly persistentVolumeName?: string;
    readonly inlineVolumeSpec?: PersistentVolumeSpec;
  };
}

export interface VolumeAttachmentStatus {
  readonly attached?: boolean;
  readonly attachmentMetadata?: StringMap;
  readonly attachError?: VolumeError;
  readonly detachError?: VolumeError;
}

export interface VolumeError {
  readonly time?: Timestamp;
  readonly message?: string;
  readonly errorCode?: number;
}

export interface VolumeAttributesClass extends KubeObject {
  readonly driverName?: string;
  readonly parameters?: StringMap;
}
