import type { StatefulSet } from '../../kube/api/apps.ts';
import type { Pod } from '../../kube/api/core.ts';
import type { PodRecord } from '../records/pod-record.ts';
import type { PodCause, PodOutcome, VolumeCopy } from './prediction.ts';
import type { WhatIfCluster } from './what-if-cluster.ts';
import type { WorkloadPods } from './workload-pods.ts';

/** What the parts of a change report while they are made. */
export interface ChangeSink {
  readonly cluster: WhatIfCluster;
  readonly workloads: WorkloadPods;
  /** A pod leaves its node for good or for another. It is still in the cluster. */
  readonly evict: (pod: PodRecord, cause: PodCause) => void;
  /** Whatever happens else, this is what becomes of the pod. */
  readonly settle: (pod: PodRecord, cause: PodCause, outcome: PodOutcome, message?: string) => void;
  /** The pod was created, and needs a node. */
  readonly created: (pod: Pod, cause: PodCause) => void;
  /** The controller of the set creates members as its policy allows. */
  readonly sync: (set: StatefulSet, cause: PodCause) => void;
  /** A new node is complete: pods that wait for one may get it now. */
  readonly addedNode: () => void;
  readonly copy: (copy: VolumeCopy) => void;
}
