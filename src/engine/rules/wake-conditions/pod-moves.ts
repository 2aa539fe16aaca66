import type { ClusterChange } from '../../cluster-index/cluster-change.ts';
import type { PodRecord } from '../../records/pod-record.ts';

/**
 * The nodes that a pod occupied, or was to occupy once others had made place for it, and occupies no longer: it is gone, finished or
 * elsewhere. Asked of every event about a pod, for pods that wait for its place.
 */
export function nodesVacated(before: PodRecord | undefined, after: PodRecord | undefined): string[] {
  return nodesClaimed(before).filter((name) => !isStillAt(name, before, after));
}

/** Whether somebody has left the node, whatever others have taken of the room since, or the node itself is gone. */
export function isVacatedBy(nodeName: string, change: ClusterChange): boolean {
  switch (change.kind) {
    case 'Pod':
      return nodesVacated(change.before, change.after).includes(nodeName);
    case 'Node':
      return change.after === undefined && change.before?.key === nodeName;
    case 'Release':
      return change.nodeName === nodeName;
    default:
      return false;
  }
}

/** Who is only to go somewhere leaves a node on which it was before. */
function isStillAt(name: string, before: PodRecord | undefined, after: PodRecord | undefined): boolean {
  if (after?.nodeName === name) return !after.isFinished;
  return before?.nodeName === '' && nodesClaimed(after).includes(name);
}

/** Where the pod is; or, while it is nowhere, where it is to go. */
export function nodesClaimed(pod: PodRecord | undefined): string[] {
  if (pod === undefined || pod.isFinished) return [];
  const place = pod.nodeName === '' ? pod.nominatedNode : pod.nodeName;
  return place === '' ? [] : [place];
}

/**
 * The same for rules to which others are company: a pod that has come counts, one that is to come counts only against those who wait.
 * So it is news that it is there, also where it was to go.
 */
export function nodeClaimKey(pod: PodRecord | undefined): string | undefined {
  const [place] = nodesClaimed(pod);
  return place !== undefined && pod?.nodeName === '' ? `to ${place}` : place;
}
