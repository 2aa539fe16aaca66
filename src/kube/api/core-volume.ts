import type { NodeSelector } from './core-placement.ts';
import type {
  Condition,
  KubeObject,
  LabelSelector,
  ObjectReference,
  ResourceList,
  StringMap,
  Timestamp,
} from './meta.ts';

/* Core group: volumes, claims, and the disks behind them. */

/** Cluster-scoped. */
export interface PersistentVolume extends KubeObject {
  readonly spec?: PersistentVolumeSpec;
  readonly status?: PersistentVolumeStatus;
}

export interface PersistentVolumeSpec extends PersistentVolumeSource {
  readonly capacity?: ResourceList;
  readonly accessModes?: readonly AccessMode[];
  /** Names the claim this volume is promised to. It is the lock: whoever writes it first has the volume. */
  readonly claimRef?: ObjectReference;
  readonly persistentVolumeReclaimPolicy?: ReclaimPolicy;
  readonly storageClassName?: string;
  readonly mountOptions?: readonly string[];
  readonly volumeMode?: VolumeMode;
  readonly nodeAffinity?: VolumeNodeAffinity;
  readonly volumeAttributesClassName?: string;
}

/** Exactly one is set; in-tree disks are here because clusters older than their CSI drivers still hold such volumes. */
export interface PersistentVolumeSource {
  readonly csi?: CSIPersistentVolumeSource;
  readonly local?: { readonly path?: string; readonly fsType?: string };
  readonly hostPath?: HostPathVolumeSource;
  readonly nfs?: NFSVolumeSource;
  readonly gcePersistentDisk?: GCEPersistentDiskVolumeSource;
  readonly awsElasticBlockStore?: AWSElasticBlockStoreVolumeSource;
  readonly azureDisk?: AzureDiskVolumeSource;
  readonly cinder?: CinderVolumeSource;
  readonly portworxVolume?: PortworxVolumeSource;
  readonly iscsi?: ISCSIVolumeSource;
  readonly rbd?: RBDVolumeSource;
}

export interface CSIPersistentVolumeSource {
  readonly driver?: string;
  readonly volumeHandle?: string;
  readonly readOnly?: boolean;
  readonly fsType?: string;
  readonly volumeAttributes?: StringMap;
  readonly controllerPublishSecretRef?: SecretReference;
  readonly nodeStageSecretRef?: SecretReference;
  readonly nodePublishSecretRef?: SecretReference;
  readonly controllerExpandSecretRef?: SecretReference;
  readonly nodeExpandSecretRef?: SecretReference;
}

export interface SecretReference {
  readonly name?: string;
  readonly namespace?: string;
}

export interface VolumeNodeAffinity {
  readonly required?: NodeSelector;
}

export interface PersistentVolumeStatus {
  readonly phase?: PersistentVolumePhase;
  readonly message?: string;
  readonly reason?: string;
  readonly lastPhaseTransitionTime?: Timestamp;
}

export type PersistentVolumePhase = 'Pending' | 'Available' | 'Bound' | 'Released' | 'Failed';
export type AccessMode = 'ReadWriteOnce' | 'ReadOnlyMany' | 'ReadWriteMany' | 'ReadWriteOncePod';
export type VolumeMode = 'Filesystem' | 'Block';
export type ReclaimPolicy = 'Retain' | 'Delete' | 'Recycle';

export interface PersistentVolumeClaim extends KubeObject {
  readonly spec?: PersistentVolumeClaimSpec;
  readonly status?: PersistentVolumeClaimStatus;
}

export interface PersistentVolumeClaimSpec {
  readonly accessModes?: readonly AccessMode[];
  readonly selector?: LabelSelector;
  readonly resources?: { readonly requests?: ResourceList; readonly limits?: ResourceList };
  readonly volumeName?: string;
  readonly storageClassName?: string;
  readonly volumeMode?: VolumeMode;
  readonly dataSource?: TypedReference;
  readonly dataSourceRef?: TypedReference;
  readonly volumeAttributesClassName?: string;
}

export interface TypedReference {
  readonly apiGroup?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
}

export interface PersistentVolumeClaimStatus {
  readonly phase?: 'Pending' | 'Bound' | 'Lost';
  readonly accessModes?: readonly AccessMode[];
  readonly capacity?: ResourceList;
  readonly conditions?: readonly PersistentVolumeClaimCondition[];
  readonly allocatedResources?: ResourceList;
  readonly allocatedResourceStatuses?: StringMap;
  readonly currentVolumeAttributesClassName?: string;
  readonly modifyVolumeStatus?: {
    readonly targetVolumeAttributesClassName?: string;
    readonly status?: 'Pending' | 'InProgress' | 'Infeasible';
  };
}

export interface PersistentVolumeClaimCondition extends Condition {
  readonly lastProbeTime?: Timestamp | null;
}

export interface GCEPersistentDiskVolumeSource {
  readonly pdName?: string;
  readonly fsType?: string;
  readonly partition?: number;
  readonly readOnly?: boolean;
}

export interface AWSElasticBlockStoreVolumeSource {
  readonly volumeID?: string;
  readonly fsType?: string;
  readonly partition?: number;
  readonly readOnly?: boolean;
}

export interface AzureDiskVolumeSource {
  readonly diskName?: string;
  readonly diskURI?: string;
  readonly cachingMode?: string;
  readonly fsType?: string;
  readonly readOnly?: boolean;
  /** `Shared` and `Dedicated` disks live in storage accounts of their own; only `Managed` ones migrate to CSI. */
  readonly kind?: string;
}

export interface CinderVolumeSource {
  readonly volumeID?: string;
  readonly fsType?: string;
  readonly readOnly?: boolean;
}

export interface PortworxVolumeSource {
  readonly volumeID?: string;
  readonly fsType?: string;
  readonly readOnly?: boolean;
}

export interface ISCSIVolumeSource {
  readonly targetPortal?: string;
  readonly iqn?: string;
  readonly lun?: number;
  readonly readOnly?: boolean;
}

export interface RBDVolumeSource {
  readonly monitors?: readonly string[];
  readonly image?: string;
  readonly pool?: string;
  readonly readOnly?: boolean;
}

export interface NFSVolumeSource {
  readonly server?: string;
  readonly path?: string;
  readonly readOnly?: boolean;
}

export interface HostPathVolumeSource {
  readonly path?: string;
  readonly type?: string;
}
