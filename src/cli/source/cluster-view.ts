import type { Event } from '../../kube/api/core.ts';
import type { ClusterSnapshot } from '../../state/cluster-snapshot.ts';
import type { UnlistedKind } from '../../state/list-cluster.ts';
import type { Note } from './note.ts';

/** All that an explanation is made from, wherever it came from. */
export interface ClusterView {
  readonly snapshot: ClusterSnapshot;
  readonly events: readonly Event[];
  /** What is known to be lacking. */
  readonly notes: readonly Note[];
  /** Kinds that we were not allowed to list; files have none. */
  readonly unseen?: readonly UnlistedKind[];
  /** Nothing can be said about nodes that nobody could see. */
  readonly seesNodes: boolean;
}

export interface Target {
  readonly kind: 'pod' | 'claim';
  readonly namespace: string;
  readonly name: string;
}
