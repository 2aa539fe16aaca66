import type { PodRecord } from '../../engine/records/pod-record.ts';
import type { Pod } from '../../kube/api/core.ts';
import type { QueuedPod } from './queue/queued-pod.ts';
import { defaultSchedulerName } from './scheduler-names.ts';

/** Whether a scheduler with one of these names is responsible for the pod. */
export function isScheduledBy(pod: Pod, schedulerNames: readonly string[]): boolean {
  return schedulerNames.includes(pod.spec?.schedulerName ?? defaultSchedulerName);
}

/** A pod that has no node, has not finished, and is not being deleted. */
export function needsNode({ nodeName, isFinished, isDeleting }: PodRecord): boolean {
  return nodeName === '' && !isFinished && !isDeleting;
}

export function toQueuedPod(record: PodRecord, pod: Pod): QueuedPod {
  const isGated = (pod.spec?.schedulingGates ?? []).length > 0;
  return { key: record.key, uid: record.uid, priority: record.priority, isGated };
}

/** Whether the pod's own change could make it fit where it did not. What the scheduler itself writes does not count. */
export function changesRequirements(before: PodRecord, after: PodRecord): boolean {
  return (
    before.shape.key !== after.shape.key ||
    before.priority !== after.priority ||
    before.preemptsOthers !== after.preemptsOthers ||
    JSON.stringify(before.labels) !== JSON.stringify(after.labels)
  );
}

/** Whether the change may affect the placement of other pods: only a pod that has or had a node or a nominated node does. */
export function affectsOtherPods(before: PodRecord | undefined, after: PodRecord | undefined): boolean {
  return [before, after].some(
    (pod) => pod !== undefined && (pod.nodeName !== '' || pod.nominatedNode !== ''),
  );
}

/** Spreads pods over nodes of equal score, deterministically: FNV-1a over the uid. */
export function tieBreakSeed({ uid, key }: PodRecord): number {
  let hash = 0x811c9dc5;
  for (const character of uid === '' ? key : uid) {
    hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193);
  }
  return hash >>> 0;
}
