// Generated from the Go types of Kubernetes; do not edit. To regenerate: npm run generate
// The stored form, exactly as Go's encoder writes it.
import type { Toleration } from './core.ts';
import type { ObjectMeta } from './meta.ts';

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
