import type { PersistentVolumeClaim, PodTemplateSpec } from './core.ts';
import type { Condition, IntOrString, KubeObject, LabelSelector } from './meta.ts';

/** `apps/v1`. */
export interface StatefulSet extends KubeObject {
  readonly spec?: StatefulSetSpec;
  readonly status?: StatefulSetStatus;
}

export interface StatefulSetSpec {
  /** Absent means 1, here and in every kind below. */
  readonly replicas?: number;
  readonly selector?: LabelSelector;
  readonly template?: PodTemplateSpec;
  readonly volumeClaimTemplates?: readonly PersistentVolumeClaim[];
  readonly serviceName?: string;
  readonly podManagementPolicy?: 'OrderedReady' | 'Parallel';
  readonly updateStrategy?: {
    readonly type?: 'RollingUpdate' | 'OnDelete';
    readonly rollingUpdate?: { readonly partition?: number; readonly maxUnavailable?: IntOrString };
  };
  readonly revisionHistoryLimit?: number;
  readonly minReadySeconds?: number;
  readonly persistentVolumeClaimRetentionPolicy?: {
    readonly whenDeleted?: 'Retain' | 'Delete';
    readonly whenScaled?: 'Retain' | 'Delete';
  };
  readonly ordinals?: { readonly start?: number };
}

export interface StatefulSetStatus extends ReplicaCounts {
  readonly currentReplicas?: number;
  readonly currentRevision?: string;
  readonly updateRevision?: string;
}

export interface Deployment extends KubeObject {
  readonly spec?: DeploymentSpec;
  readonly status?: DeploymentStatus;
}

export interface DeploymentSpec {
  readonly replicas?: number;
  readonly selector?: LabelSelector;
  readonly template?: PodTemplateSpec;
  readonly strategy?: {
    readonly type?: 'RollingUpdate' | 'Recreate';
    readonly rollingUpdate?: { readonly maxUnavailable?: IntOrString; readonly maxSurge?: IntOrString };
  };
  readonly minReadySeconds?: number;
  readonly revisionHistoryLimit?: number;
  readonly paused?: boolean;
  readonly progressDeadlineSeconds?: number;
}

export interface DeploymentStatus extends ReplicaCounts {
  readonly unavailableReplicas?: number;
}

export interface ReplicaSet extends KubeObject {
  readonly spec?: ReplicaSetSpec;
  readonly status?: ReplicaSetStatus;
}

export interface ReplicaSetSpec {
  readonly replicas?: number;
  readonly minReadySeconds?: number;
  readonly selector?: LabelSelector;
  readonly template?: PodTemplateSpec;
}

export interface ReplicaSetStatus extends ReplicaCounts {
  readonly fullyLabeledReplicas?: number;
}

export interface DaemonSet extends KubeObject {
  readonly spec?: { readonly selector?: LabelSelector; readonly template?: PodTemplateSpec };
  readonly status?: DaemonSetStatus;
}

export interface DaemonSetStatus {
  readonly observedGeneration?: number;
  readonly currentNumberScheduled?: number;
  readonly desiredNumberScheduled?: number;
  readonly numberMisscheduled?: number;
  readonly numberReady?: number;
  readonly numberAvailable?: number;
}

/** A frozen copy of a workload's template, kept so that pods can say which one they follow. */
export interface ControllerRevision extends KubeObject {
  readonly revision?: number;
  readonly data?: unknown;
}

interface ReplicaCounts {
  readonly observedGeneration?: number;
  readonly replicas?: number;
  readonly readyReplicas?: number;
  readonly updatedReplicas?: number;
  readonly availableReplicas?: number;
  readonly terminatingReplicas?: number;
  readonly collisionCount?: number;
  readonly conditions?: readonly Condition[];
}

/** How many there are and should be, of any kind that has replicas (autoscaling/v1). */
export interface Scale extends KubeObject {
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly replicas?: number; readonly selector?: string };
}
