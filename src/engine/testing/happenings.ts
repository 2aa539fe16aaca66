/** Things that happen to a cluster, to be written down in a table before there is one. */
import type { Change } from '../cluster-index/change.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';

/** Tells the index; what changed by it is undefined where nothing did. */
export type Happening = (index: ClusterIndex) => Change | undefined;

/** The object is made, or becomes like this. */
export function comes(...[kind, object]: Parameters<ClusterIndex['upsert']>): Happening {
  return (index) => index.upsert(kind, object as never).change;
}

export function goes(...[kind, key]: Parameters<ClusterIndex['remove']>): Happening {
  return (index) => index.remove(kind, key).change;
}
