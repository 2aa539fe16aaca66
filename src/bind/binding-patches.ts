import { hasAnnotation } from '../kube/annotations.ts';
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeClaimStatus,
  PersistentVolumePhase,
} from '../kube/api/core.ts';
import type { QuantityText } from '../kube/api/meta.ts';
import { compareQuantities, parseQuantity } from '../kube/quantities/quantity.ts';
import { isClaimRefTo } from '../kube/volumes.ts';
import { annotations, markerValue } from '../kube/well-known.ts';

/*
 * The merge patches that bind or unbind a volume and a claim; undefined if there is nothing to change. A caller that applies them one
 * after the other may stop after any of them: on the next call, patches that were applied are undefined.
 */

export type MergePatchBody = Readonly<Record<string, unknown>>;

/**
 * The claimRef is the lock: once it is written, the volume belongs to this claim. A volume that an administrator had reserved for the
 * claim does not get the bound-by-controller annotation.
 */
export function volumeBindingPatch(
  volume: PersistentVolume,
  claim: PersistentVolumeClaim,
): MergePatchBody | undefined {
  const { namespace, name, uid, resourceVersion } = claim.metadata ?? {};
  const claimRef = volume.spec?.claimRef;
  const isOurs = !isClaimRefTo(claimRef, claim) && !hasAnnotation(volume, annotations.boundByController);
  const isWritten = claimRef?.name === name && claimRef?.namespace === namespace && claimRef?.uid === uid;
  if (isWritten && !isOurs) return undefined;
  const reference = {
    kind: 'PersistentVolumeClaim',
    apiVersion: 'v1',
    namespace,
    name,
    uid,
    resourceVersion,
  };
  return {
    ...(isOurs && { metadata: { annotations: { [annotations.boundByController]: markerValue } } }),
    ...(!isWritten && { spec: { claimRef: reference } }),
  };
}

/**
 * Removes the claimRef, because the claim is bound to another volume. A volume that an administrator reserved stays reserved for the
 * claim's name; only the uid is removed.
 */
export function volumeUnbindingPatch(volume: PersistentVolume): MergePatchBody {
  if (!hasAnnotation(volume, annotations.boundByController)) return { spec: { claimRef: { uid: null } } };
  return {
    metadata: { annotations: { [annotations.boundByController]: null } },
    spec: { claimRef: null },
  };
}

export function volumePhasePatch(
  volume: PersistentVolume,
  phase: PersistentVolumePhase,
  message = '',
): MergePatchBody | undefined {
  if (volume.status?.phase === phase) return undefined;
  return { status: { phase, message: message === '' ? null : message } };
}

/**
 * Names the volume in the claim, and marks the binding as done by a controller and complete. A claim in which an administrator has named
 * the volume is only marked as complete.
 */
export function claimBindingPatch(
  claim: PersistentVolumeClaim,
  volumeName: string,
): MergePatchBody | undefined {
  const isNamed = claim.spec?.volumeName === volumeName;
  if (isNamed && hasAnnotation(claim, annotations.bindCompleted)) return undefined;
  const marks = {
    [annotations.bindCompleted]: claim.metadata?.annotations?.[annotations.bindCompleted] ?? markerValue,
    ...(!isNamed && { [annotations.boundByController]: markerValue }),
  };
  return { metadata: { annotations: marks }, ...(!isNamed && { spec: { volumeName } }) };
}

/** The status of a claim without a volume has no access modes, capacity or attributes class. */
export function unboundClaimStatusPatch(
  claim: PersistentVolumeClaim,
  phase: 'Pending' | 'Lost',
): MergePatchBody | undefined {
  const { status = {} } = claim;
  const isClear = [status.accessModes, status.capacity, status.currentVolumeAttributesClassName].every(
    (field) => field === undefined,
  );
  if (status.phase === phase && isClear) return undefined;
  return {
    status: { phase, accessModes: null, capacity: null, currentVolumeAttributesClassName: null },
  };
}

/**
 * A claim that is bound already keeps its capacity: it may be smaller than the volume's on purpose, while a file system is being
 * expanded. The attributes class is only written when the claim is first bound; after that the resizer owns it.
 */
export function boundClaimStatusPatch(
  claim: PersistentVolumeClaim,
  volume: PersistentVolume,
): MergePatchBody | undefined {
  const { status = {} } = claim;
  const modes = volume.spec?.accessModes ?? [];
  const attributesClass = volume.spec?.volumeAttributesClassName;
  const change: Record<string, unknown> = {};
  if (!haveSameItems(status.accessModes ?? [], modes)) change.accessModes = modes;
  if (status.phase !== 'Bound') {
    change.phase = 'Bound';
    Object.assign(change, capacityChange(status, volume));
    const isFirst = status.phase === undefined || status.phase === 'Pending';
    if (isFirst && status.currentVolumeAttributesClassName !== attributesClass)
      change.currentVolumeAttributesClassName = attributesClass ?? null;
  }
  return Object.keys(change).length === 0 ? undefined : { status: change };
}

function capacityChange(status: PersistentVolumeClaimStatus, volume: PersistentVolume): MergePatchBody {
  const before = volume.metadata?.annotations?.[annotations.preResizeCapacity];
  const own = volume.spec?.capacity?.storage;
  if (before !== undefined) {
    const parsed = parseQuantity(before);
    return { capacity: { storage: parsed.ok ? before : own } };
  }
  return isSameQuantity(status.capacity?.storage, own) ? {} : { capacity: volume.spec?.capacity ?? {} };
}

function isSameQuantity(a: QuantityText | undefined, b: QuantityText | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  const [left, right] = [parseQuantity(a), parseQuantity(b)];
  return left.ok && right.ok && compareQuantities(left.quantity, right.quantity) === 0;
}

function haveSameItems(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, position) => item === b[position]);
}
