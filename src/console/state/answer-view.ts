import type { ClusterIndex } from '../../engine/cluster-index/cluster-index.ts';
import type { Event } from '../../kube/api/core.ts';
import type { ClusterSnapshot } from '../../state/cluster-snapshot.ts';
import type { UnlistedKind } from '../../state/list-cluster.ts';
import type { ConsoleDiskObjects } from './cluster-state.ts';

/** The objects that an answer is about: those that the viewer may list. */
export interface AnswerView {
  readonly snapshot: ClusterSnapshot;
  /** The live index of the snapshot, with the profile `stowage`. An answer leaves it as it is. Undefined if the viewer sees only a part. */
  readonly index: ClusterIndex | undefined;
  readonly disks: ConsoleDiskObjects;
  readonly events: readonly Event[];
  /** Kinds that the viewer may not list, or only in the namespace of the view. */
  readonly unseen: readonly UnlistedKind[];
  /** The only namespace of the view; undefined for all. */
  readonly namespace: string | undefined;
  readonly nowMs: number;
}
