/** Events for tables of test cases: functions that apply one change to an index. */
import type { ClusterChange } from '../cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';

/** Applies the event and returns the change, or undefined if nothing changed. */
export type IndexEvent = (index: ClusterIndex) => ClusterChange | undefined;

/** The object is created or updated. */
export function upserted(...[kind, object]: Parameters<ClusterIndex['upsert']>): IndexEvent {
  return (index) => index.upsert(kind, object as never).change;
}

export function removed(...[kind, key]: Parameters<ClusterIndex['remove']>): IndexEvent {
  return (index) => index.remove(kind, key).change;
}
