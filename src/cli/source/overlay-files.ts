import type { ClusterView } from '../../queries/view/cluster-view.ts';
import { everyKind } from '../../state/kind-resources.ts';

/**
 * The cluster as it would be with the objects of the files: they are added, or replace the object of the same kind and name. Only the view
 * changes; nothing is written.
 */
export function overlayFiles(
  live: ClusterView,
  files: Pick<ClusterView, 'snapshot' | 'events'>,
  paths: readonly string[],
): ClusterView {
  let added = 0;
  let replaced = 0;
  for (const kind of everyKind) {
    for (const object of files.snapshot.values(kind)) {
      const before = live.snapshot.count(kind);
      live.snapshot.add(kind, object as never);
      if (live.snapshot.count(kind) > before) added += 1;
      else replaced += 1;
    }
  }
  const text = `objects of ${paths.join(', ')}, only in memory: ${added} added to the cluster, ${replaced} replaced`;
  return {
    ...live,
    events: [...live.events, ...files.events],
    isHypothetical: true,
    seesNodes: live.seesNodes || live.snapshot.count('Node') > 0,
    notes: [{ about: 'assumed', text }, ...live.notes],
  };
}
