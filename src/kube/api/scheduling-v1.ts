// Generated from the types of Kubernetes v1.36.3 (k8s.io/api v0.36.3); do not edit. To write it anew:
// go run . ../../src/apiserver/schema/generated (in scripts/api-tables)
import type { ObjectMeta } from './meta-v1.ts';

export interface PriorityClass {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  value: number;
  globalDefault?: boolean | undefined;
  description?: string | undefined;
  preemptionPolicy?: string | undefined;
}
