// Generated from the Go types of Kubernetes; do not edit. To regenerate: npm run generate
// As read from any cluster or file: any field may be missing, nothing may be changed.
import type { KubeObject } from './meta.ts';

/** How many replicas there are and should be, of any kind that has replicas. */
export interface Scale extends KubeObject {
  readonly spec?: ScaleSpec;
  readonly status?: ScaleStatus;
}

export interface ScaleSpec {
  readonly replicas?: number;
}

export interface ScaleStatus {
  readonly replicas?: number;
  readonly selector?: string;
}
