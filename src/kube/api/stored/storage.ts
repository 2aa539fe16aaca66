// Generated from the Go types of Kubernetes; do not edit. To regenerate: npm run generate
// The stored form, exactly as Go's encoder writes it.
import type { PersistentVolumeSpec, TopologySelectorTerm } from './core.ts';
import type { Int64, LabelSelector, ObjectMeta } from './meta.ts';

export interface CSIDriver {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec: CSIDriverSpec;
}

export interface CSIDriverSpec {
  attachRequired?: boolean | undefined;
  podInfoOnMount?: boolean | undefined;
  volumeLifecycleModes?: string[] | undefined;
  storageCapacity?: boolean | undefined;
  fsGroupPolicy?: string | undefined;
  tokenRequests?: TokenRequest[] | undefined;
  requiresRepublish?: boolean | undefined;
  seLinuxMount?: boolean | undefined;
  nodeAllocatableUpdatePeriodSeconds?: Int64 | undefined;
  serviceAccountTokenInSecrets?: boolean | undefined;
  preventPodSchedulingIfMissing?: boolean | undefined;
}

export interface CSINode {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec: CSINodeSpec;
}

export interface CSINodeDriver {
  name: string;
  nodeID: string;
  topologyKeys: string[] | null;
  allocatable?: VolumeNodeResources | undefined;
}

export interface CSINodeSpec {
  drivers: CSINodeDriver[] | null;
}

export interface CSIStorageCapacity {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  nodeTopology?: LabelSelector | undefined;
  storageClassName: string;
  capacity?: string | undefined;
  maximumVolumeSize?: string | undefined;
}

export interface StorageClass {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  provisioner: string;
  parameters?: Record<string, string> | undefined;
  reclaimPolicy?: string | undefined;
  mountOptions?: string[] | undefined;
  allowVolumeExpansion?: boolean | undefined;
  volumeBindingMode?: string | undefined;
  allowedTopologies?: TopologySelectorTerm[] | undefined;
}

export interface TokenRequest {
  audience: string;
  expirationSeconds?: Int64 | undefined;
}

export interface VolumeAttachment {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec: VolumeAttachmentSpec;
  status: VolumeAttachmentStatus;
}

export interface VolumeAttachmentSource {
  persistentVolumeName?: string | undefined;
  inlineVolumeSpec?: PersistentVolumeSpec | undefined;
}

export interface VolumeAttachmentSpec {
  attacher: string;
  source: VolumeAttachmentSource;
  nodeName: string;
}

export interface VolumeAttachmentStatus {
  attached: boolean;
  attachmentMetadata?: Record<string, string> | undefined;
  attachError?: VolumeError | undefined;
  detachError?: VolumeError | undefined;
}

export interface VolumeAttributesClass {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  driverName: string;
  parameters?: Record<string, string> | undefined;
}

export interface VolumeError {
  time: string | null;
  message?: string | undefined;
  errorCode?: number | undefined;
}

export interface VolumeNodeResources {
  count?: number | undefined;
}
