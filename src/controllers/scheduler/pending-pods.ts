import type { PodRecord } from '../../engine/records/pod-record.ts';
import type { Pod } from '../../kube/api/core.ts';
import { defaultSchedulerName } from '../../reconcile/leases/scheduler-names.ts';
import type { QueuedPod } from './queue/queued-pod.ts';

/** Whether a scheduler with one of these names is responsible for the pod. */
export function isScheduledBy(pod: Pod, schedulerNames: readonly string[]): boolean {
  return schedulerNames.includes(pod.spec?.schedulerName ?? defaultSchedulerName);
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
