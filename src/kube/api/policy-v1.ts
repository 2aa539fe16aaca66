// Generated from the types of Kubernetes v1.36.3 (k8s.io/api v0.36.3); do not edit. To write it anew:
// go run . ../../src/apiserver/schema/generated (in scripts/api-tables)
import type { Condition, DeleteOptions, LabelSelector, ObjectMeta } from './meta-v1.ts';

export interface Eviction {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  deleteOptions?: DeleteOptions | undefined;
}

export interface PodDisruptionBudget {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec: PodDisruptionBudgetSpec;
  status: PodDisruptionBudgetStatus;
}

export interface PodDisruptionBudgetSpec {
  minAvailable?: number | string | undefined;
  selector?: LabelSelector | undefined;
  maxUnavailable?: number | string | undefined;
  unhealthyPodEvictionPolicy?: string | undefined;
}

export interface PodDisruptionBudgetStatus {
  observedGeneration?: number | undefined;
  disruptedPods?: Record<string, string> | undefined;
  disruptionsAllowed: number;
  currentHealthy: number;
  desiredHealthy: number;
  expectedPods: number;
  conditions?: Condition[] | undefined;
}
