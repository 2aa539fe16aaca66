// Generated from the Go types of Kubernetes; do not edit. To regenerate: npm run generate
// The stored form, exactly as Go's encoder writes it.
import type { ObjectMeta } from './meta.ts';

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
