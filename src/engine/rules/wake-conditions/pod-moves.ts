import type { ClusterChange } from '../../cluster-index/cluster-change.ts';
import type { PodRecord } from '../../records/pod-record.ts';

/**
 * The nodes that a pod occupied, or was nominated to, and no longer does, because it is deleted, finished or elsewhere. Called for every
 * event about a pod, for pods that wait for its resources.
 */
export function nodesVacated(before: PodRecord | undefined, after: PodRecord | undefined): string[] {
  return occupiedNodes(before).filter((name) => !stillOccupies(name, before, after));
}

/** Whether a pod has left the node, even if other pods use its resources by now, or the node itself no longer exists. */
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

/** A pod that is only nominated to a node has left the node on which it ran before. */
function stillOccupies(name: string, before: PodRecord | undefined, after: PodRecord | undefined): boolean {
  if (after?.nodeName === name) return !after.isFinished;
  return before?.nodeName === '' && occupiedNodes(after).includes(name);
}

/** The node of the pod; or, while it has none, the node that it is nominated to. */
export function occupiedNodes(pod: PodRecord | undefined): string[] {
  if (pod === undefined || pod.isFinished) return [];
  const node = pod.nodeName === '' ? pod.nominatedNode : pod.nodeName;
  return node === '' ? [] : [node];
}

/**
 * The same, for rules that depend on which pods are where. A bound pod counts for and against others, a nominated pod only against them.
 * So the key changes when a nominated pod is bound, even to the node that it was nominated to.
 */
export function occupancyKey(pod: PodRecord | undefined): string | undefined {
  const [node] = occupiedNodes(pod);
  return node !== undefined && pod?.nodeName === '' ? `to ${node}` : node;
}
