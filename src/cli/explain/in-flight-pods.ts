import { needsNode } from '../../controllers/scheduler/pending-pods.ts';
import type { ClusterIndex } from '../../engine/cluster-index/cluster-index.ts';
import type { PodRecord } from '../../engine/records/pod-record.ts';
import type { ClusterView } from '../source/cluster-view.ts';
import { isReportedUnschedulable } from './contradiction.ts';

/**
 * Calls `ask` with every pod on its node whose scheduler has chosen one and still waits for volumes: schedulers count such a pod as if it were
 * there, though the API server shows no node yet. Restores the index.
 */
export function withInFlightPods<T>(
  index: ClusterIndex,
  { view, except }: { readonly view: ClusterView; readonly except: string },
  ask: () => T,
): T {
  const savepoint = index.savepoint();
  try {
    for (const pod of [...index.pods.records()]) {
      const nodeName = pod.key === except ? undefined : chosenNode(pod, index, view);
      if (nodeName !== undefined) index.setAssumedPod(pod.key, { ...pod, nodeName });
    }
    return ask();
  } finally {
    index.rollback(savepoint);
  }
}

/**
 * The selected node of the pod's claims. A pod that was refused afterwards keeps the selected node on its claims; it is in flight again when
 * its nominated node is that node too.
 */
function chosenNode(pod: PodRecord, index: ClusterIndex, { snapshot }: ClusterView): string | undefined {
  if (!needsNode(pod)) return undefined;
  const unbound = pod.claims
    .flatMap(({ key }) => index.claims.get(key) ?? [])
    .filter(({ isBound }) => !isBound);
  const selected = unbound.flatMap(({ selectedNode }) => (selectedNode === '' ? [] : [selectedNode]));
  const [nodeName] = selected;
  if (nodeName === undefined || selected.some((other) => other !== nodeName)) return undefined;
  if (pod.nominatedNode !== '' && pod.nominatedNode !== nodeName) return undefined;
  const stored = snapshot.get('Pod', pod.key);
  if (stored === undefined || !isReportedUnschedulable(stored)) return nodeName;
  // The pod may be nominated because others are evicted for it, and share a claim with a pod in flight. Its other claims show that.
  const isWhole = unbound.every(
    ({ className, selectedNode }) => selectedNode !== '' || !index.classes.get(className)?.canProvision,
  );
  return pod.nominatedNode !== '' && isWhole ? nodeName : undefined;
}
