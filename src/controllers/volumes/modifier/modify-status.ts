import type {
  ModifyVolumeStatus,
  PersistentVolumeClaim,
  PersistentVolumeClaimCondition,
} from '../../../kube/api/core.ts';
import { setCondition } from '../../../kube/conditions.ts';
import { formatTimestamp } from '../../../kube/go/timestamp.ts';

/** A merge patch of a claim's status; null removes a field. */
export interface ModifyPatch {
  readonly modifyVolumeStatus?: ModifyVolumeStatus | null;
  readonly currentVolumeAttributesClassName?: string;
  readonly conditions?: readonly PersistentVolumeClaimCondition[];
}

/** Why a call failed. */
export interface ModifyFailure {
  readonly className: string;
  /** The name of the gRPC code. */
  readonly reason: string;
  readonly message: string;
  /** `unknown`: the call may have succeeded. `ended`: it had no effect. `infeasible`: and never will. */
  readonly kind: 'unknown' | 'ended' | 'infeasible';
}

/** The class cannot be used yet; conditions and target stay. Undefined if that is already recorded. */
export function modifyPendingStatus({ status }: PersistentVolumeClaim): ModifyPatch | undefined {
  if (status?.modifyVolumeStatus?.status === 'Pending') return undefined;
  return { modifyVolumeStatus: { status: 'Pending' } };
}

/** The target is recorded before the driver is called. */
export function modifyStartedStatus(
  { status }: PersistentVolumeClaim,
  className: string,
  nowMs: number,
): ModifyPatch {
  const message = `Modifying volume to "${className}" is in progress.`;
  const modifying = { type: 'ModifyingVolume', status: 'True', message } as const;
  return {
    modifyVolumeStatus: { status: 'InProgress', targetVolumeAttributesClassName: className },
    conditions: setCondition(status?.conditions, modifying, formatTimestamp(nowMs)),
  };
}

export function modifyFailedStatus(
  { status }: PersistentVolumeClaim,
  { className, reason, message, kind }: ModifyFailure,
  nowMs: number,
): ModifyPatch {
  const now = formatTimestamp(nowMs);
  const progress = kind === 'unknown' ? 'is still in progress.' : 'failed. Waiting for retry.';
  const modifying: PersistentVolumeClaimCondition = {
    type: 'ModifyingVolume',
    status: 'True',
    message: `Modifying volume to "${className}" ${progress}`,
  };
  const failed: PersistentVolumeClaimCondition = {
    type: 'ModifyVolumeError',
    status: 'True',
    reason,
    message,
  };
  const conditions = setCondition(setCondition(status?.conditions, modifying, now), failed, now);
  const state = kind === 'infeasible' ? 'Infeasible' : 'InProgress';
  return {
    modifyVolumeStatus: { status: state, targetVolumeAttributesClassName: className },
    conditions,
  };
}

export function modifyFinishedStatus({ status }: PersistentVolumeClaim, className: string): ModifyPatch {
  return {
    modifyVolumeStatus: null,
    currentVolumeAttributesClassName: className,
    conditions: (status?.conditions ?? []).filter(
      ({ type }) => type !== 'ModifyingVolume' && type !== 'ModifyVolumeError',
    ),
  };
}

/** The state of the last modification stays: what happened before it is not known. */
export function modifyCancelledStatus({ status }: PersistentVolumeClaim): ModifyPatch {
  return { conditions: (status?.conditions ?? []).filter(({ type }) => type !== 'ModifyingVolume') };
}
