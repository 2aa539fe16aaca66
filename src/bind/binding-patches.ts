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
 * What has to change so that a volume and a claim are as decided, as merge patches; undefined where they are so already. Who
 * applies them one after the other can stop after any: what is done isn't done again.
 */

export type MergePatchBody = Readonly<Record<string, unknown>>;

/** The claimRef is the lock: from here on the volume is this claim's. A volume that a person reserved isn't marked as ours. */
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

/** Takes a binding back that another volume won. What a person reserved stays reserved for whoever gets the name. */
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

/** Naming the volume makes the binding ours; a claim that a person pointed at it only gets the mark that it is complete. */
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

/** Without a volume there is nothing to say about one. */
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
 * A claim that is bound already keeps its capacity: it may lag behind the volume's on purpose, while a file system grows. The
 * class of attributes is only written when it is first bound; after that it is the resizer's.
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
