// Generated from the types of Kubernetes v1.36.3 (k8s.io/api v0.36.3); do not edit. To write it anew:
// go run . ../../src/apiserver/schema/generated (in scripts/api-tables)
import type { LabelSelector, ObjectMeta } from './meta-v1.ts';

export interface AggregationRule {
  clusterRoleSelectors?: LabelSelector[] | undefined;
}

export interface ClusterRole {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  rules: PolicyRule[] | null;
  aggregationRule?: AggregationRule | undefined;
}

export interface ClusterRoleBinding {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  subjects?: Subject[] | undefined;
  roleRef: RoleRef;
}

export interface PolicyRule {
  verbs: string[] | null;
  apiGroups?: string[] | undefined;
  resources?: string[] | undefined;
  resourceNames?: string[] | undefined;
  nonResourceURLs?: string[] | undefined;
}

export interface Role {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  rules: PolicyRule[] | null;
}

export interface RoleBinding {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  subjects?: Subject[] | undefined;
  roleRef: RoleRef;
}

export interface RoleRef {
  apiGroup: string;
  kind: string;
  name: string;
}

export interface Subject {
  kind: string;
  apiGroup?: string | undefined;
  name: string;
  namespace?: string | undefined;
}
