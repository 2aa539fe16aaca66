import { isAvailable, isReady, isTerminating } from '../../../engine/workloads/pod-state.ts';
import {
  podRevisionOf,
  type SetRevision,
  setReplicasOf,
} from '../../../engine/workloads/stateful-set-members.ts';
import type { StatefulSet, StatefulSetStatus } from '../../../kube/api/apps.ts';
import type { Pod } from '../../../kube/api/core.ts';

export interface SetStatusInput {
  readonly set: StatefulSet;
  readonly pods: readonly Pod[];
  readonly current: SetRevision;
  readonly update: SetRevision;
  readonly collisions: number;
  readonly nowMs: number;
}

export type SetStatus = Required<Omit<StatefulSetStatus, 'conditions' | 'terminatingReplicas'>>;

/** The status of the set. When every pod is at the new revision and ready, the update is over. */
export function setStatusOf({ set, pods, current, update, collisions, nowMs }: SetStatusInput): SetStatus {
  const minReadySeconds = set.spec?.minReadySeconds ?? 0;
  const ready = pods.filter((pod) => pod.status?.phase === 'Running' && isReady(pod));
  const staying = pods.filter((pod) => !isTerminating(pod));
  const at = (revision: SetRevision) => staying.filter((pod) => podRevisionOf(pod) === revision.name).length;
  const status = {
    observedGeneration: set.metadata?.generation ?? 0,
    replicas: pods.length,
    readyReplicas: ready.length,
    availableReplicas: ready.filter((pod) => isAvailable(pod, minReadySeconds, nowMs)).length,
    currentReplicas: at(current),
    updatedReplicas: at(update),
    currentRevision: current.name,
    updateRevision: update.name,
    collisionCount: collisions,
  };
  return isUpdateOver(set, status)
    ? { ...status, currentReplicas: status.updatedReplicas, currentRevision: update.name }
    : status;
}

function isUpdateOver(set: StatefulSet, status: SetStatus): boolean {
  const replicas = setReplicasOf(set);
  const { type = 'RollingUpdate' } = set.spec?.updateStrategy ?? {};
  return (
    type === 'RollingUpdate' &&
    status.updatedReplicas === replicas &&
    status.readyReplicas === replicas &&
    status.replicas === replicas
  );
}

export function isSetStatusCurrent({ status = {} }: StatefulSet, wanted: SetStatus): boolean {
  const keys = Object.keys(wanted) as (keyof SetStatus)[];
  return keys.every((key) => (status[key] ?? (typeof wanted[key] === 'number' ? 0 : '')) === wanted[key]);
}

/** A merge patch: fields that Go omits from the object when they are zero are removed. */
export function setStatusPatch(status: SetStatus): object {
  const { readyReplicas, currentReplicas, updatedReplicas } = status;
  return {
    ...status,
    readyReplicas: readyReplicas || null,
    currentReplicas: currentReplicas || null,
    updatedReplicas: updatedReplicas || null,
  };
}
