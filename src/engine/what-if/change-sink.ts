import type { Deployment, StatefulSet } from '../../kube/api/apps.ts';
import type { Pod } from '../../kube/api/core.ts';
import type { PodRecord } from '../records/pod-record.ts';
import type { PodCause, PodOutcomeKind, VolumeCopy } from './prediction.ts';
import type { WhatIfCluster } from './what-if-cluster.ts';
import type { WorkloadPods } from './workload-pods.ts';

/** Collects the reports of the parts of a change while they are made. */
export interface ChangeSink {
  readonly cluster: WhatIfCluster;
  readonly workloads: WorkloadPods;
  /** Does the work when the pods that are in the queue have had their turn, in the order of the calls. */
  readonly later: (work: () => void) => void;
  /** Applies the object that has this number in its file, when the objects before it have been applied. */
  readonly apply: (number: number, work: () => void) => void;
  /** How many pods have got a node, or had to leave one. */
  readonly moves: () => number;
  /** A pod leaves its node for good or for another. It is still in the cluster. */
  readonly evict: (pod: PodRecord, cause: PodCause) => void;
  /** Whatever happens else, this is what becomes of the pod, unless it leaves. */
  readonly settle: (pod: PodRecord, cause: PodCause, outcome: PodOutcomeKind, message?: string) => void;
  /** The pod was created, and needs a node. */
  readonly created: (pod: Pod, cause: PodCause) => void;
  /** The controller of the set creates, updates and removes members as its policies allow. */
  readonly sync: (set: StatefulSet, cause: PodCause) => void;
  /** The controller of the Deployment brings its ReplicaSets to its template and size, as its strategy allows. */
  readonly rollOut: (deployment: Deployment, cause: PodCause) => void;
  readonly copy: (copy: VolumeCopy) => void;
}
