import type { PreemptionPolicy } from './core.ts';
import type { KubeObject } from './meta.ts';

/** `scheduling.k8s.io/v1`, cluster-scoped: a name for a pod's priority. */
export interface PriorityClass extends KubeObject {
  readonly value?: number;
  readonly globalDefault?: boolean;
  readonly description?: string;
  readonly preemptionPolicy?: PreemptionPolicy;
}
