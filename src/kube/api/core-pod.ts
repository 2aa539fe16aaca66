import type { Affinity, Toleration, TopologySpreadConstraint } from './core-placement.ts';
import type {
  AWSElasticBlockStoreVolumeSource,
  AzureDiskVolumeSource,
  CinderVolumeSource,
  GCEPersistentDiskVolumeSource,
  HostPathVolumeSource,
  ISCSIVolumeSource,
  NFSVolumeSource,
  PersistentVolumeClaimSpec,
  PortworxVolumeSource,
  RBDVolumeSource,
} from './core-volume.ts';
import type {
  Condition,
  KubeObject,
  ObjectMeta,
  ObjectReference,
  QuantityText,
  ResourceList,
  StringMap,
  Timestamp,
} from './meta.ts';

/* Core group: pods and what they mount. */

export interface Pod extends KubeObject {
  readonly spec?: PodSpec;
  readonly status?: PodStatus;
}

/** Sent to a pod's `binding`: put it on `target`, a node. */
export interface Binding extends KubeObject {
  readonly target?: ObjectReference;
}

export interface PodSpec {
  readonly volumes?: readonly Volume[];
  readonly initContainers?: readonly Container[];
  readonly containers?: readonly Container[];
  readonly ephemeralContainers?: readonly Container[];
  readonly restartPolicy?: 'Always' | 'OnFailure' | 'Never';
  readonly terminationGracePeriodSeconds?: number;
  readonly activeDeadlineSeconds?: number;
  readonly nodeSelector?: StringMap;
  readonly nodeName?: string;
  readonly serviceAccountName?: string;
  readonly hostNetwork?: boolean;
  /** False: in a user namespace of its own. */
  readonly hostUsers?: boolean;
  readonly affinity?: Affinity;
  readonly schedulerName?: string;
  readonly tolerations?: readonly Toleration[];
  readonly priorityClassName?: string;
  readonly priority?: number;
  readonly preemptionPolicy?: PreemptionPolicy;
  readonly runtimeClassName?: string;
  readonly overhead?: ResourceList;
  readonly topologySpreadConstraints?: readonly TopologySpreadConstraint[];
  readonly schedulingGates?: readonly { readonly name?: string }[];
  readonly readinessGates?: readonly { readonly conditionType?: string }[];
  readonly resourceClaims?: readonly PodResourceClaim[];
  /** Resources of the pod as a whole; where present they take the place of the containers' sum. */
  readonly resources?: ResourceRequirements;
  readonly schedulingGroup?: { readonly podGroupName?: string };
  readonly hostname?: string;
  readonly subdomain?: string;
}

export type PreemptionPolicy = 'PreemptLowerPriority' | 'Never';

export interface PodStatus {
  readonly observedGeneration?: number;
  readonly phase?: PodPhase;
  readonly conditions?: readonly PodCondition[];
  readonly message?: string;
  readonly reason?: string;
  readonly nominatedNodeName?: string;
  readonly hostIP?: string;
  readonly podIP?: string;
  readonly podIPs?: readonly { readonly ip?: string }[];
  readonly startTime?: Timestamp;
  readonly initContainerStatuses?: readonly ContainerStatus[];
  readonly containerStatuses?: readonly ContainerStatus[];
  readonly qosClass?: 'Guaranteed' | 'Burstable' | 'BestEffort';
  readonly resourceClaimStatuses?: readonly { readonly name?: string; readonly resourceClaimName?: string }[];
  readonly allocatedResources?: ResourceList;
  readonly resources?: ResourceRequirements;
}

export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';

export interface PodCondition extends Condition {
  readonly lastProbeTime?: Timestamp | null;
}

export interface ContainerStatus {
  readonly name?: string;
  readonly state?: ContainerState;
  readonly lastState?: ContainerState;
  readonly ready?: boolean;
  readonly started?: boolean;
  readonly restartCount?: number;
  readonly image?: string;
  readonly imageID?: string;
  readonly containerID?: string;
  readonly allocatedResources?: ResourceList;
  readonly resources?: ResourceRequirements;
}

export interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly running?: { readonly startedAt?: Timestamp };
  readonly terminated?: {
    readonly exitCode?: number;
    readonly reason?: string;
    readonly startedAt?: Timestamp;
    readonly finishedAt?: Timestamp;
  };
}

export interface Container {
  readonly name?: string;
  readonly image?: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly ports?: readonly ContainerPort[];
  readonly env?: readonly { readonly name?: string; readonly value?: string }[];
  readonly resources?: ResourceRequirements;
  /** `Always` makes an init container a sidecar: it keeps running, and its requests are added, not maximised. */
  readonly restartPolicy?: 'Always' | 'OnFailure' | 'Never';
  readonly restartPolicyRules?: readonly { readonly action?: string }[];
  readonly volumeMounts?: readonly VolumeMount[];
  readonly volumeDevices?: readonly { readonly name?: string; readonly devicePath?: string }[];
  readonly imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never';
}

export interface ContainerPort {
  readonly name?: string;
  readonly hostPort?: number;
  readonly containerPort?: number;
  readonly protocol?: Protocol;
  readonly hostIP?: string;
}

export type Protocol = 'TCP' | 'UDP' | 'SCTP';

export interface VolumeMount {
  readonly name?: string;
  readonly mountPath?: string;
  readonly subPath?: string;
  readonly readOnly?: boolean;
}

export interface ResourceRequirements {
  readonly limits?: ResourceList;
  readonly requests?: ResourceList;
  readonly claims?: readonly { readonly name?: string; readonly request?: string }[];
}

export interface PodResourceClaim {
  readonly name?: string;
  readonly resourceClaimName?: string;
  readonly resourceClaimTemplateName?: string;
}

export interface PodTemplateSpec {
  readonly metadata?: ObjectMeta;
  readonly spec?: PodSpec;
}

export interface Volume {
  readonly name?: string;
  readonly persistentVolumeClaim?: { readonly claimName?: string; readonly readOnly?: boolean };
  readonly ephemeral?: { readonly volumeClaimTemplate?: PersistentVolumeClaimTemplate };
  readonly csi?: CSIVolumeSource;
  readonly gcePersistentDisk?: GCEPersistentDiskVolumeSource;
  readonly awsElasticBlockStore?: AWSElasticBlockStoreVolumeSource;
  readonly azureDisk?: AzureDiskVolumeSource;
  readonly cinder?: CinderVolumeSource;
  readonly portworxVolume?: PortworxVolumeSource;
  readonly iscsi?: ISCSIVolumeSource;
  readonly rbd?: RBDVolumeSource;
  readonly nfs?: NFSVolumeSource;
  readonly hostPath?: HostPathVolumeSource;
  readonly emptyDir?: { readonly medium?: string; readonly sizeLimit?: QuantityText };
  readonly configMap?: { readonly name?: string; readonly optional?: boolean };
  readonly secret?: { readonly secretName?: string; readonly optional?: boolean };
  readonly downwardAPI?: unknown;
  readonly projected?: unknown;
  readonly image?: unknown;
}

export interface PersistentVolumeClaimTemplate {
  readonly metadata?: ObjectMeta;
  readonly spec?: PersistentVolumeClaimSpec;
}

/** An inline volume that a CSI driver makes for the pod and removes with it. */
export interface CSIVolumeSource {
  readonly driver?: string;
  readonly readOnly?: boolean;
  readonly fsType?: string;
  readonly volumeAttributes?: StringMap;
  readonly nodePublishSecretRef?: { readonly name?: string };
  /**
   * Proposed with storage capacity tracking and never part of Kubernetes. Without it an inline volume has no size to
   * reserve.
   */
  readonly fsSize?: QuantityText;
}
