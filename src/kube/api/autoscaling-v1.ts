// Generated from the types of Kubernetes v1.36.3 (k8s.io/api v0.36.3); do not edit. To write it anew:
// go run . ../../src/apiserver/schema/generated (in scripts/api-tables)
import type { ObjectMeta } from './meta-v1.ts';

export interface Scale {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec: ScaleSpec;
  status: ScaleStatus;
}

export interface ScaleSpec {
  replicas?: number | undefined;
}

export interface ScaleStatus {
  replicas: number;
  selector?: string | undefined;
}
