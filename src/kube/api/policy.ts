import type { Condition, IntOrString, KubeObject, LabelSelector, StringMap } from './meta.ts';

/** `policy/v1`: how many of these pods may be taken away at once. Preemption asks before it evicts. */
export interface PodDisruptionBudget extends KubeObject {
  readonly spec?: PodDisruptionBudgetSpec;
  readonly status?: PodDisruptionBudgetStatus;
}

export interface PodDisruptionBudgetSpec {
  /** Absent selects no pod; empty selects every pod of the namespace. */
  readonly selector?: LabelSelector;
  readonly minAvailable?: IntOrString;
  readonly maxUnavailable?: IntOrString;
  readonly unhealthyPodEvictionPolicy?: 'IfHealthyBudget' | 'AlwaysAllow';
}

export interface PodDisruptionBudgetStatus {
  readonly observedGeneration?: number;
  /** Pod name to the time of an eviction that the controller has not yet seen through. */
  readonly disruptedPods?: StringMap;
  readonly disruptionsAllowed?: number;
  readonly currentHealthy?: number;
  readonly desiredHealthy?: number;
  readonly expectedPods?: number;
  readonly conditions?: readonly Condition[];
}

/** Sent to a pod's `eviction`: delete it, unless a budget forbids that now. */
export interface Eviction extends KubeObject {
  readonly deleteOptions?: {
    readonly gracePeriodSeconds?: number;
    readonly dryRun?: readonly string[];
    readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  };
}
