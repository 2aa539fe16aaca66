import type { IndexedKind } from '../../engine/cluster-index/cluster-change.ts';
import type { ClusterView } from './cluster-view.ts';

/**
 * Whether nothing is known about a kind: the files have no object of it, or the caller may not list it. In a live cluster that was listed,
 * a kind without objects is known to have none.
 */
export function isUnread(
  { snapshot, unseen = [], isFromFiles = false, isComplete = false }: ClusterView,
  kind: IndexedKind,
): boolean {
  const isForbidden = unseen.some((one) => one.kind === kind && one.onlyNamespace === undefined);
  return ((isFromFiles && !isComplete) || isForbidden) && snapshot.count(kind) === 0;
}

/** Whether the objects of a kind in this namespace were read: one that is not found there does not exist. */
export function isReadIn(view: ClusterView, kind: IndexedKind, namespace: string): boolean {
  const { unseen = [] } = view;
  return !isUnread(view, kind) && !unseen.some((one) => one.kind === kind && one.onlyNamespace !== namespace);
}
