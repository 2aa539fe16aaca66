import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import type { PodRecord } from '../../records/pod-record.ts';

/**
 * The pods on the node that this one may evict, including pods that are only assumed there. A change wakes a pod even if it does not fit
 * yet, when it could fit by evicting these.
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
