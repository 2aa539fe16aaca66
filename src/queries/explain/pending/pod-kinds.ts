import type { ClusterIndex } from '../../../engine/cluster-index/cluster-index.ts';
import { type PodRecord, readPod } from '../../../engine/records/pod-record.ts';
import type { Pod } from '../../../kube/api/core.ts';

/** Pending pods that ask for the same, so that one explanation holds for all: the replicas of a workload. */
export interface AlikePods {
  /** Sorted by name. */
  readonly pods: readonly Pod[];
}

/** The kinds of pods with the most pods first. */
export function groupAlikePods(pods: readonly Pod[], index: ClusterIndex): readonly AlikePods[] {
  const groups = new Map<string, Pod[]>();
  for (const pod of pods) {
    const key = likenessOf(pod, index);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [pod]);
    else group.push(pod);
  }
  return [...groups.values()].map((alike) => ({ pods: alike })).sort((a, b) => b.pods.length - a.pods.length);
}

/** Pods without a controller may have any labels, which rules compare. Pods of one controller have the labels of its template. */
function likenessOf(pod: Pod, index: ClusterIndex): string {
  const record = readPod(pod);
  return JSON.stringify([
    record.namespace,
    record.owner === '' ? record.labels : record.owner,
    record.shape.key,
    record.priority,
    record.nodeName,
    record.nominatedNode,
    pod.spec?.schedulerName,
    pod.spec?.schedulingGates,
    record.claims.map(({ key }) => claimLikeness(key, index)),
    record.inlineVolumes,
    record.migratedVolumes,
    conditionOf(pod),
  ]);
}

function claimLikeness(key: string, { claims }: ClusterIndex): unknown {
  const claim = claims.get(key);
  if (claim === undefined) return 'missing';
  const {
    className,
    request,
    volumeName,
    selectedNode,
    isLost,
    isDeleting,
    isRollingBack,
    accessModes,
    mode,
    selectorKey,
  } = claim;
  return [
    className,
    request?.bytes,
    volumeName,
    selectedNode,
    isLost,
    isDeleting,
    isRollingBack,
    accessModes,
    mode,
    selectorKey,
  ];
}

function conditionOf({ status }: Pod): string | undefined {
  return status?.conditions?.find(({ type }) => type === 'PodScheduled')?.message;
}

/** Pods that have not started: without a node, or on one where their containers do not run. */
export function isPending(pod: Pod, record: PodRecord): boolean {
  if (record.isFinished || record.isDeleting) return false;
  return record.nodeName === '' || pod.status?.phase === 'Pending';
}
