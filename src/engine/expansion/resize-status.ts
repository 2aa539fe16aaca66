import type { PersistentVolumeClaim, PersistentVolumeClaimCondition } from '../../kube/api/core.ts';
import { setCondition } from '../../kube/conditions.ts';
import { formatTimestamp } from '../../kube/go/timestamp.ts';

/** On a claim: the resizer that expands its volume. */
export const resizerAnnotation = 'volume.kubernetes.io/storage-resizer';

/** On a claim: its last expansion needs nothing from a kubelet, which else would try. */
export const nodeExpansionNotRequired = 'volume.kubernetes.io/node-expansion-not-required';

/** A merge patch of a claim's status; null removes a field. */
export interface ResizePatch {
  readonly capacity?: { readonly storage: string };
  readonly allocatedResources?: { readonly storage: string };
  readonly allocatedResourceStatuses?: { readonly storage: string | null };
  readonly conditions: readonly PersistentVolumeClaimCondition[];
}

const resizeConditions = new Set([
  'Resizing',
  'FileSystemResizePending',
  'ControllerResizeError',
  'NodeResizeError',
]);

const startedStates = new Set(['ControllerResizeInProgress', 'NodeResizeInfeasible']);

const restartNote = 'Waiting for user to (re-)start a pod to finish file system resize of volume on node.';

/** The size is recorded before any resizer is called. */
export function resizeStartedStatus(claim: PersistentVolumeClaim, size: string, nowMs: number): ResizePatch {
  return {
    allocatedResources: { storage: size },
    allocatedResourceStatuses: { storage: 'ControllerResizeInProgress' },
    conditions: withCondition(otherConditions(claim), { type: 'Resizing', status: 'True' }, nowMs),
  };
}

/** Whether that is already recorded. A state of the node stays until the controller has succeeded again. */
export function hasResizeStarted({ status }: PersistentVolumeClaim, size: string): boolean {
  const isRecorded = status?.allocatedResources?.storage === size;
  return isRecorded && startedStates.has(status?.allocatedResourceStatuses?.storage ?? '');
}

/** The volume has grown; the file system on it has not. */
export function nodeResizePendingStatus(claim: PersistentVolumeClaim, nowMs: number): ResizePatch {
  const pending = { type: 'FileSystemResizePending', status: 'True', message: restartNote } as const;
  return {
    allocatedResourceStatuses: { storage: 'NodeResizePending' },
    conditions: withCondition(claim.status?.conditions ?? [], pending, nowMs),
  };
}

/** The claim has the requested size; the allocated size stays, as in Kubernetes. */
export function resizeFinishedStatus(claim: PersistentVolumeClaim, size: string): ResizePatch {
  return {
    capacity: { storage: size },
    allocatedResourceStatuses: { storage: null },
    conditions: otherConditions(claim),
  };
}

/** The size is infeasible; the claim may request a smaller one. */
export function resizeInfeasibleStatus(
  claim: PersistentVolumeClaim,
  why: string,
  nowMs: number,
): ResizePatch {
  return {
    allocatedResourceStatuses: { storage: 'ControllerResizeInfeasible' },
    ...resizeFailedStatus(claim, why, nowMs),
  };
}

/** The attempt failed; the size may be possible later. */
export function resizeFailedStatus(claim: PersistentVolumeClaim, why: string, nowMs: number): ResizePatch {
  return { conditions: withCondition(claim.status?.conditions ?? [], failedCondition(why), nowMs) };
}

function failedCondition(why: string): PersistentVolumeClaimCondition {
  return {
    type: 'ControllerResizeError',
    status: 'True',
    message: `failed to expand pvc with ${why}`,
  };
}

/** Whether the node has to grow the file system of the claim's volume. */
export function awaitsNodeResize({ status }: PersistentVolumeClaim): boolean {
  const state = status?.allocatedResourceStatuses?.storage;
  return state === 'NodeResizePending' || state === 'NodeResizeInProgress';
}

function otherConditions({ status }: PersistentVolumeClaim): readonly PersistentVolumeClaimCondition[] {
  return (status?.conditions ?? []).filter(({ type }) => !resizeConditions.has(type ?? ''));
}

function withCondition(
  conditions: readonly PersistentVolumeClaimCondition[],
  condition: PersistentVolumeClaimCondition,
  nowMs: number,
): readonly PersistentVolumeClaimCondition[] {
  return setCondition(conditions, condition, formatTimestamp(nowMs));
}
