// Generated from the Go types of Kubernetes; do not edit. To regenerate: npm run generate
// As read from any cluster or file: any field may be missing, nothing may be changed.
import type { ResourceList, Toleration } from './core.ts';
import type { KubeObject, StringMap } from './meta.ts';

export interface Overhead {
  readonly podFixed?: ResourceList;
}

export interface RuntimeClass extends KubeObject {
  readonly handler?: string;
  readonly overhead?: Overhead;
  readonly scheduling?: Scheduling;
}

export interface Scheduling {
  readonly nodeSelector?: StringMap;
  readonly tolerations?: readonly Toleration[];
}
