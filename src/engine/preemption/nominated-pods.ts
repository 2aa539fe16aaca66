import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import type { FilterOptions } from '../evaluation/filter-nodes.ts';
import type { PodRecord } from '../records/pod-record.ts';
import { mayTakeBytes, promiseNominatedVolumes } from './nominated-volumes.ts';

/** Nominated pods whose resources a pod must leave free, by the node that they are nominated to. */
export type NominatedByNode = ReadonlyMap<string, readonly PodRecord[]>;

/** The nominated pods of equal or higher priority, without those that already count on a node. */
export function nominatedRivals(
  pod: PodRecord,
  index: ClusterIndex,
  nominated: readonly PodRecord[],
): NominatedByNode {
  const nominatedByNode = new Map<string, PodRecord[]>();
  for (const other of nominated) {
    if (other.priority < pod.priority || other.key === pod.key || other.nominatedNode === '') continue;
    if ((index.pods.get(other.key)?.nodeName ?? '') !== '') continue;
    const there = nominatedByNode.get(other.nominatedNode);
    if (there === undefined) nominatedByNode.set(other.nominatedNode, [other]);
    else there.push(other);
  }
  return nominatedByNode;
}

/**
 * Calls `ask` with the pods on the nodes that they are nominated to, and restores the index. They also hold the bytes that their volumes will take there; pods
 * of higher priority choose first.
 */
export function withNominated<T>(
  index: ClusterIndex,
  pods: readonly PodRecord[],
  options: FilterOptions,
  ask: () => T,
): T {
  const savepoint = index.savepoint();
  try {
    for (const pod of inOrder(pods)) promiseNominatedVolumes(pod, index, options);
    for (const pod of pods) index.setAssumedPod(pod.key, { ...pod, nodeName: pod.nominatedNode });
    return ask();
  } finally {
    index.rollback(savepoint);
  }
}

function inOrder(pods: readonly PodRecord[]): readonly PodRecord[] {
  const taking = pods.filter(mayTakeBytes);
  return taking.length < 2
    ? taking
    : taking.sort((a, b) => b.priority - a.priority || (a.key < b.key ? -1 : 1));
}
