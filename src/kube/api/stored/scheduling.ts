// Generated from the Go types of Kubernetes; do not edit. To regenerate: npm run generate
// The stored form, exactly as Go's encoder writes it.
import type { ObjectMeta } from './meta.ts';

export interface PriorityClass {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  value: number;
  globalDefault?: boolean | undefined;
  description?: string | undefined;
  preemptionPolicy?: string | undefined;
}
