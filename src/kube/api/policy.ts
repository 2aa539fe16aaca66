// Generated from the Go types of Kubernetes; do not edit. To regenerate: npm run generate
// As read from any cluster or file: any field may be missing, nothing may be changed.
import type {
  Condition,
  DeleteOptions,
  Int64,
  IntOrString,
  KubeObject,
  LabelSelector,
  Timestamp,
} from './meta.ts';

export type UnhealthyPodEvictionPolicyType = 'IfHealthyBudget' | 'AlwaysAllow';

/** Sent to a pod's `eviction`: delete it, unless a budget forbids that now. */
export interface Eviction extends KubeObject {
  readonly deleteOptions?: DeleteOptions;
}

/** How many of these pods may be evicted at once. Preemption checks it before it evicts. */
export interface PodDisruptionBudget extends KubeObject {
  readonly spec?: PodDisruptionBudgetSpec;
  readonly status?: PodDisruptionBudgetStatus;
}

export interface PodDisruptionBudgetSpec {
  readonly minAvailable?: IntOrString;
  /** Absent selects no pod; empty selects every pod of the namespace. */
  readonly selector?: LabelSelector;
  readonly maxUnavailable?: IntOrString;
  readonly unhealthyPodEvictionPolicy?: UnhealthyPodEvictionPolicyType;
}

export interface PodDisruptionBudgetStatus {
  readonly observedGeneration?: Int64;
  /** Pod name to the time of an eviction whose pod the controller still expects to go. */
  readonly disruptedPods?: Readonly<Record<string, Timestamp>>;
  readonly disruptionsAllowed?: number;
  readonly currentHealthy?: number;
  readonly desiredHealthy?: number;
  readonly expectedPods?: number;
  readonly conditions?: readonly Condition[];
}
