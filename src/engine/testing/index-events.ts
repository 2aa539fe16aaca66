/** Things that happen to a cluster, to be written down in a table before there is one. */
import type { ClusterChange } from '../cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';

/** Tells the index; what changed by it is undefined where nothing did. */
export type IndexEvent = (index: ClusterIndex) => ClusterChange | undefined;

/** The object is made, or becomes like this. */
export function upserted(...[kind, object]: Parameters<ClusterIndex['upsert']>): IndexEvent {
  return (index) => index.upsert(kind, object as never).change;
}

export function removed(...[kind, key]: Parameters<ClusterIndex['remove']>): IndexEvent {
  return (index) => index.remove(kind, key).change;
}
