// Generated from the Go types of Kubernetes; do not edit. To regenerate: npm run generate
// As read from any cluster or file: any field may be missing, nothing may be changed.
import type { PreemptionPolicy } from './core.ts';
import type { KubeObject } from './meta.ts';

/** Cluster-scoped: a name for a pod's priority. */
export interface PriorityClass extends KubeObject {
  readonly value?: number;
  readonly globalDefault?: boolean;
  readonly description?: string;
  readonly preemptionPolicy?: PreemptionPolicy;
}
