import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import type { PodRecord } from '../../records/pod-record.ts';

/**
 * The pods of the node that this one may evict; those that are only assumed there too. What it waits for need not make it fit: it may
 * do the rest itself.
 */
export function evictablePodsOn(
  nodeName: string,
  { priority, preemptsOthers }: PodRecord,
  index: ClusterIndex,
): readonly PodRecord[] {
  const lower: PodRecord[] = [];
  if (!preemptsOthers || priority <= index.pods.lowestPriority) return lower;
  for (const other of index.pods.onNode(nodeName)) if (other.priority < priority) lower.push(other);
  return lower;
}
