// Generated from the types of Kubernetes v1.36.3 (k8s.io/api v0.36.3); do not edit. To write it anew:
// go run . ../../src/apiserver/schema/generated (in scripts/api-tables)
import type { ObjectMeta } from './meta-v1.ts';

export interface Lease {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec: LeaseSpec;
}

export interface LeaseSpec {
  holderIdentity?: string | undefined;
  leaseDurationSeconds?: number | undefined;
  acquireTime?: string | undefined;
  renewTime?: string | undefined;
  leaseTransitions?: number | undefined;
  strategy?: string | undefined;
  preferredHolder?: string | undefined;
}
