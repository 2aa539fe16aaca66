import type { Event } from '../../kube/api/core.ts';
import type { Unseen } from '../../state/list-cluster.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import type { Note } from './note.ts';

/** All that an explanation is made from, wherever it came from. */
export interface World {
  readonly snapshot: Snapshot;
  readonly events: readonly Event[];
  /** What is known to be lacking. */
  readonly notes: readonly Note[];
  /** Kinds that we were not allowed to list; files have none. */
  readonly unseen?: readonly Unseen[];
  /** Nothing can be said about nodes that nobody could see. */
  readonly seesNodes: boolean;
}

export interface Target {
  readonly kind: 'pod' | 'claim';
  readonly namespace: string;
  readonly name: string;
}
