// Generated from the types of Kubernetes v1.36.3 (k8s.io/api v0.36.3); do not edit. To write it anew:
// go run . ../../src/apiserver/schema/generated (in scripts/api-tables)
import type { Toleration } from './core-v1.ts';
import type { ObjectMeta } from './meta-v1.ts';

export interface Overhead {
  podFixed?: Record<string, string> | undefined;
}

export interface RuntimeClass {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  handler: string;
  overhead?: Overhead | undefined;
  scheduling?: Scheduling | undefined;
}

export interface Scheduling {
  nodeSelector?: Record<string, string> | undefined;
  tolerations?: Toleration[] | undefined;
}
