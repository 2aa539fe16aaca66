import type { ClusterIndex } from '../../engine/cluster-index/cluster-index.ts';
import type { PodRecord } from '../../engine/records/pod-record.ts';
import type { Pod } from '../../kube/api/core.ts';
import type { ClusterView } from '../view/cluster-view.ts';

/** The pod to explain, and what the explanation is based on. */
export interface PodQuestion {
  readonly view: ClusterView;
  readonly pod: Pod;
  readonly record: PodRecord;
  /** The view's objects, under the profile of the pod's scheduler. */
  readonly index: ClusterIndex;
  readonly nowMs: number;
  /** Leaves out the search for remedies, which takes longest. */
  readonly skipsRemedies?: boolean | undefined;
  /** Why no scheduler seems to place the pod; undefined if one may. */
  readonly missingScheduler?: string | undefined;
}
