// Generated from the Go types of Kubernetes; do not edit. To regenerate: npm run generate
// As read from any cluster or file: any field may be missing, nothing may be changed.
import type { ConditionStatus, PersistentVolumeClaim, PodTemplateSpec } from './core.ts';
import type { Int64, IntOrString, KubeObject, LabelSelector, Timestamp } from './meta.ts';

export type DaemonSetUpdateStrategyType = 'RollingUpdate' | 'OnDelete';

export type DeploymentStrategyType = 'Recreate' | 'RollingUpdate';

export type PersistentVolumeClaimRetentionPolicyType = 'Retain' | 'Delete';

export type PodManagementPolicyType = 'OrderedReady' | 'Parallel';

export type StatefulSetUpdateStrategyType = 'RollingUpdate' | 'OnDelete';

/** A copy of a workload's template that never changes; pods name the one that they follow. */
export interface ControllerRevision extends KubeObject {
  readonly data?: unknown;
  readonly revision?: Int64;
}

export interface DaemonSet extends KubeObject {
  readonly spec?: DaemonSetSpec;
  readonly status?: DaemonSetStatus;
}

export interface DaemonSetCondition {
  readonly type?: string;
  readonly status?: ConditionStatus;
  readonly lastTransitionTime?: Timestamp | null;
  readonly reason?: string;
  readonly message?: string;
}

export interface DaemonSetSpec {
  readonly selector?: LabelSelector;
  readonly template?: PodTemplateSpec;
  readonly updateStrategy?: DaemonSetUpdateStrategy;
  readonly minReadySeconds?: number;
  readonly revisionHistoryLimit?: number;
}

export interface DaemonSetStatus {
  readonly currentNumberScheduled?: number;
  readonly numberMisscheduled?: number;
  readonly desiredNumberScheduled?: number;
  readonly numberReady?: number;
  readonly observedGeneration?: Int64;
  readonly updatedNumberScheduled?: number;
  readonly numberAvailable?: number;
  readonly numberUnavailable?: number;
  readonly collisionCount?: number;
  readonly conditions?: readonly DaemonSetCondition[];
}

export interface DaemonSetUpdateStrategy {
  readonly type?: DaemonSetUpdateStrategyType;
  readonly rollingUpdate?: RollingUpdateDaemonSet;
}

export interface Deployment extends KubeObject {
  readonly spec?: DeploymentSpec;
  readonly status?: DeploymentStatus;
}

export interface DeploymentCondition {
  readonly type?: string;
  readonly status?: ConditionStatus;
  readonly lastUpdateTime?: Timestamp | null;
  readonly lastTransitionTime?: Timestamp | null;
  readonly reason?: string;
  readonly message?: string;
}

export interface DeploymentSpec {
  /** Absent means 1. */
  readonly replicas?: number;
  readonly selector?: LabelSelector;
  readonly template?: PodTemplateSpec;
  readonly strategy?: DeploymentStrategy;
  readonly minReadySeconds?: number;
  readonly revisionHistoryLimit?: number;
  readonly paused?: boolean;
  readonly progressDeadlineSeconds?: number;
}

export interface DeploymentStatus {
  readonly observedGeneration?: Int64;
  readonly replicas?: number;
  readonly updatedReplicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly unavailableReplicas?: number;
  readonly terminatingReplicas?: number;
  readonly conditions?: readonly DeploymentCondition[];
  readonly collisionCount?: number;
}

export interface DeploymentStrategy {
  readonly type?: DeploymentStrategyType;
  readonly rollingUpdate?: RollingUpdateDeployment;
}

export interface ReplicaSet extends KubeObject {
  readonly spec?: ReplicaSetSpec;
  readonly status?: ReplicaSetStatus;
}

export interface ReplicaSetCondition {
  readonly type?: string;
  readonly status?: ConditionStatus;
  readonly lastTransitionTime?: Timestamp | null;
  readonly reason?: string;
  readonly message?: string;
}

export interface ReplicaSetSpec {
  /** Absent means 1. */
  readonly replicas?: number;
  readonly minReadySeconds?: number;
  readonly selector?: LabelSelector;
  readonly template?: PodTemplateSpec;
}

export interface ReplicaSetStatus {
  readonly replicas?: number;
  readonly fullyLabeledReplicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly terminatingReplicas?: number;
  readonly observedGeneration?: Int64;
  readonly conditions?: readonly ReplicaSetCondition[];
}

export interface RollingUpdateDaemonSet {
  readonly maxUnavailable?: IntOrString;
  readonly maxSurge?: IntOrString;
}

export interface RollingUpdateDeployment {
  readonly maxUnavailable?: IntOrString;
  readonly maxSurge?: IntOrString;
}

export interface RollingUpdateStatefulSetStrategy {
  readonly partition?: number;
  readonly maxUnavailable?: IntOrString;
}

export interface StatefulSet extends KubeObject {
  readonly spec?: StatefulSetSpec;
  readonly status?: StatefulSetStatus;
}

export interface StatefulSetCondition {
  readonly type?: string;
  readonly status?: ConditionStatus;
  readonly lastTransitionTime?: Timestamp | null;
  readonly reason?: string;
  readonly message?: string;
}

export interface StatefulSetOrdinals {
  readonly start?: number;
}

export interface StatefulSetPersistentVolumeClaimRetentionPolicy {
  readonly whenDeleted?: PersistentVolumeClaimRetentionPolicyType;
  readonly whenScaled?: PersistentVolumeClaimRetentionPolicyType;
}

export interface StatefulSetSpec {
  /** Absent means 1. */
  readonly replicas?: number;
  readonly selector?: LabelSelector;
  readonly template?: PodTemplateSpec;
  readonly volumeClaimTemplates?: readonly PersistentVolumeClaim[];
  readonly serviceName?: string;
  readonly podManagementPolicy?: PodManagementPolicyType;
  readonly updateStrategy?: StatefulSetUpdateStrategy;
  readonly revisionHistoryLimit?: number;
  readonly minReadySeconds?: number;
  readonly persistentVolumeClaimRetentionPolicy?: StatefulSetPersistentVolumeClaimRetentionPolicy;
  readonly ordinals?: StatefulSetOrdinals;
}

export interface StatefulSetStatus {
  readonly observedGeneration?: Int64;
  readonly replicas?: number;
  readonly readyReplicas?: number;
  readonly currentReplicas?: number;
  readonly updatedReplicas?: number;
  readonly currentRevision?: string;
  readonly updateRevision?: string;
  readonly collisionCount?: number;
  readonly conditions?: readonly StatefulSetCondition[];
  readonly availableReplicas?: number;
}

export interface StatefulSetUpdateStrategy {
  readonly type?: StatefulSetUpdateStrategyType;
  readonly rollingUpdate?: RollingUpdateStatefulSetStrategy;
}
