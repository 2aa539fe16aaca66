// Generated from the Go types of Kubernetes; do not edit. To regenerate: npm run generate
// As read from any cluster or file: any field may be missing, nothing may be changed.
import type { KubeObject, LabelSelector } from './meta.ts';

export interface AggregationRule {
  readonly clusterRoleSelectors?: readonly LabelSelector[];
}

export interface ClusterRole extends KubeObject {
  readonly rules?: readonly PolicyRule[];
  readonly aggregationRule?: AggregationRule;
}

export interface ClusterRoleBinding extends KubeObject {
  readonly subjects?: readonly Subject[];
  readonly roleRef?: RoleRef;
}

export interface PolicyRule {
  readonly verbs?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

export interface Role extends KubeObject {
  readonly rules?: readonly PolicyRule[];
}

export interface RoleBinding extends KubeObject {
  readonly subjects?: readonly Subject[];
  readonly roleRef?: RoleRef;
}

export interface RoleRef {
  readonly apiGroup?: string;
  readonly kind?: string;
  readonly name?: string;
}

export interface Subject {
  readonly kind?: string;
  readonly apiGroup?: string;
  readonly name?: string;
  readonly namespace?: string;
}
