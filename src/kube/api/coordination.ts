import type { KubeObject, Timestamp } from './meta.ts';

/** `coordination.k8s.io/v1`: who leads, and until when. */
export interface Lease extends KubeObject {
  readonly spec?: LeaseSpec;
}

export interface LeaseSpec {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly acquireTime?: Timestamp;
  readonly renewTime?: Timestamp;
  readonly leaseTransitions?: number;
}
