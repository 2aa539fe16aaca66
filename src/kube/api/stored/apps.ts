// Generated from the Go types of Kubernetes; do not edit. To regenerate: npm run generate
// The stored form, exactly as Go's encoder writes it.
import type { PersistentVolumeClaim, PodTemplateSpec } from './core.ts';
import type { Int64, LabelSelector, ObjectMeta } from './meta.ts';

export interface ControllerRevision {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  data: unknown;
  revision: Int64;
}

export interface DaemonSet {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec: DaemonSetSpec;
  status: DaemonSetStatus;
}

export interface DaemonSetCondition {
  type: string;
  status: string;
  lastTransitionTime: string | null;
  reason?: string | undefined;
  message?: string | undefined;
}

export interface DaemonSetSpec {
  selector: LabelSelector | null;
  template: PodTemplateSpec;
  updateStrategy: DaemonSetUpdateStrategy;
  minReadySeconds?: number | undefined;
  revisionHistoryLimit?: number | undefined;
}

export interface DaemonSetStatus {
  currentNumberScheduled: number;
  numberMisscheduled: number;
  desiredNumberScheduled: number;
  numberReady: number;
  observedGeneration?: Int64 | undefined;
  updatedNumberScheduled?: number | undefined;
  numberAvailable?: number | undefined;
  numberUnavailable?: number | undefined;
  collisionCount?: number | undefined;
  conditions?: DaemonSetCondition[] | undefined;
}

export interface DaemonSetUpdateStrategy {
  type?: string | undefined;
  rollingUpdate?: RollingUpdateDaemonSet | undefined;
}

export interface Deployment {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec: DeploymentSpec;
  status: DeploymentStatus;
}

export interface DeploymentCondition {
  type: string;
  status: string;
  lastUpdateTime: string | null;
  lastTransitionTime: string | null;
  reason?: string | undefined;
  message?: string | undefined;
}

export interface DeploymentSpec {
  replicas?: number | undefined;
  selector: LabelSelector | null;
  template: PodTemplateSpec;
  strategy: DeploymentStrategy;
  minReadySeconds?: number | undefined;
  revisionHistoryLimit?: number | undefined;
  paused?: boolean | undefined;
  progressDeadlineSeconds?: number | undefined;
}

export interface DeploymentStatus {
  observedGeneration?: Int64 | undefined;
  replicas?: number | undefined;
  updatedReplicas?: number | undefined;
  readyReplicas?: number | undefined;
  availableReplicas?: number | undefined;
  unavailableReplicas?: number | undefined;
  terminatingReplicas?: number | undefined;
  conditions?: DeploymentCondition[] | undefined;
  collisionCount?: number | undefined;
}

export interface DeploymentStrategy {
  type?: string | undefined;
  rollingUpdate?: RollingUpdateDeployment | undefined;
}

export interface ReplicaSet {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec: ReplicaSetSpec;
  status: ReplicaSetStatus;
}

export interface ReplicaSetCondition {
  type: string;
  status: string;
  lastTransitionTime: string | null;
  reason?: string | undefined;
  message?: string | undefined;
}

export interface ReplicaSetSpec {
  replicas?: number | undefined;
  minReadySeconds?: number | undefined;
  selector: LabelSelector | null;
  template: PodTemplateSpec;
}

export interface ReplicaSetStatus {
  replicas: number;
  fullyLabeledReplicas?: number | undefined;
  readyReplicas?: number | undefined;
  availableReplicas?: number | undefined;
  terminatingReplicas?: number | undefined;
  observedGeneration?: Int64 | undefined;
  conditions?: ReplicaSetCondition[] | undefined;
}

export interface RollingUpdateDaemonSet {
  maxUnavailable?: number | string | undefined;
  maxSurge?: number | string | undefined;
}

export interface RollingUpdateDeployment {
  maxUnavailable?: number | string | undefined;
  maxSurge?: number | string | undefined;
}

export interface RollingUpdateStatefulSetStrategy {
  partition?: number | undefined;
  maxUnavailable?: number | string | undefined;
}

export interface StatefulSet {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec: StatefulSetSpec;
  status: StatefulSetStatus;
}

export interface StatefulSetCondition {
  type: string;
  status: string;
  lastTransitionTime: string | null;
  reason?: string | undefined;
  message?: string | undefined;
}

export interface StatefulSetOrdinals {
  start: number;
}

export interface StatefulSetPersistentVolumeClaimRetentionPolicy {
  whenDeleted?: string | undefined;
  whenScaled?: string | undefined;
}

export interface StatefulSetSpec {
  replicas?: number | undefined;
  selector: LabelSelector | null;
  template: PodTemplateSpec;
  volumeClaimTemplates?: PersistentVolumeClaim[] | undefined;
  serviceName: string;
  podManagementPolicy?: string | undefined;
  updateStrategy: StatefulSetUpdateStrategy;
  revisionHistoryLimit?: number | undefined;
  minReadySeconds?: number | undefined;
  persistentVolumeClaimRetentionPolicy?: StatefulSetPersistentVolumeClaimRetentionPolicy | undefined;
  ordinals?: StatefulSetOrdinals | undefined;
}

export interface StatefulSetStatus {
  observedGeneration?: Int64 | undefined;
  replicas: number;
  readyReplicas?: number | undefined;
  currentReplicas?: number | undefined;
  updatedReplicas?: number | undefined;
  currentRevision?: string | undefined;
  updateRevision?: string | undefined;
  collisionCount?: number | undefined;
  conditions?: StatefulSetCondition[] | undefined;
  availableReplicas: number;
}

export interface StatefulSetUpdateStrategy {
  type?: string | undefined;
  rollingUpdate?: RollingUpdateStatefulSetStrategy | undefined;
}
