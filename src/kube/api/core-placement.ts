import type { LabelSelector, Timestamp } from './meta.ts';

/* Core group: what attracts pods to nodes and what keeps them away. */

export interface Taint {
  readonly key?: string;
  readonly value?: string;
  readonly effect?: TaintEffect;
  readonly timeAdded?: Timestamp;
}

export type TaintEffect = 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';

export interface Toleration {
  /** Empty matches every key. */
  readonly key?: string;
  /** Empty means Equal. Lt and Gt compare whole numbers. */
  readonly operator?: 'Exists' | 'Equal' | 'Lt' | 'Gt';
  readonly value?: string;
  /** Empty matches every effect. */
  readonly effect?: TaintEffect | '';
  readonly tolerationSeconds?: number;
}

export interface NodeSelector {
  /** ORed; an empty list selects no node. */
  readonly nodeSelectorTerms?: readonly NodeSelectorTerm[];
}

export interface NodeSelectorTerm {
  /** ANDed with each other and with `matchFields`; a term with neither selects no node. */
  readonly matchExpressions?: readonly NodeSelectorRequirement[];
  readonly matchFields?: readonly NodeSelectorRequirement[];
}

export interface NodeSelectorRequirement {
  readonly key?: string;
  readonly operator?: NodeSelectorOperator;
  readonly values?: readonly string[];
}

export type NodeSelectorOperator = 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt';

export interface PreferredSchedulingTerm {
  readonly weight?: number;
  readonly preference?: NodeSelectorTerm;
}

export interface TopologySelectorTerm {
  readonly matchLabelExpressions?: readonly TopologySelectorLabelRequirement[];
}

export interface TopologySelectorLabelRequirement {
  readonly key?: string;
  readonly values?: readonly string[];
}

export interface Affinity {
  readonly nodeAffinity?: NodeAffinity;
  readonly podAffinity?: PodAffinity;
  readonly podAntiAffinity?: PodAffinity;
}

export interface NodeAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: NodeSelector;
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly PreferredSchedulingTerm[];
}

/** Affinity and anti-affinity have the same shape. */
export interface PodAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[];
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly WeightedPodAffinityTerm[];
}

export interface WeightedPodAffinityTerm {
  readonly weight?: number;
  readonly podAffinityTerm?: PodAffinityTerm;
}

export interface PodAffinityTerm {
  /** Absent selects no pod; empty selects every pod. */
  readonly labelSelector?: LabelSelector;
  readonly namespaces?: readonly string[];
  /** Absent, with no `namespaces`: the pod's own. Empty: every namespace. */
  readonly namespaceSelector?: LabelSelector;
  readonly topologyKey?: string;
  readonly matchLabelKeys?: readonly string[];
  readonly mismatchLabelKeys?: readonly string[];
}

export interface TopologySpreadConstraint {
  readonly maxSkew?: number;
  readonly topologyKey?: string;
  readonly whenUnsatisfiable?: 'DoNotSchedule' | 'ScheduleAnyway';
  readonly labelSelector?: LabelSelector;
  readonly minDomains?: number;
  readonly nodeAffinityPolicy?: NodeInclusionPolicy;
  readonly nodeTaintsPolicy?: NodeInclusionPolicy;
  readonly matchLabelKeys?: readonly string[];
}

export type NodeInclusionPolicy = 'Honor' | 'Ignore';
