import type { PersistentVolume, PersistentVolumeClaim } from '../kube/api/core.ts';
import { canonicalJson } from '../kube/go/json-text.ts';
import { annotations } from '../kube/well-known.ts';
import type { WriteState } from './retry-while-valid.ts';

/*
 * Whether a decision whose write failed still holds for the object as it is now. The decision depends on the spec, the labels, the
 * deletion and the phase of the object; it does not depend on annotations that other clients add.
 */

/** `known` is the volume that was decided on, for the claim with that uid. */
export function volumeWriteState(
  live: PersistentVolume | undefined,
  known: PersistentVolume,
  claimUid: string,
): WriteState {
  if (live?.spec?.claimRef?.uid === claimUid) return { kind: 'done' };
  const isSame = isSameObject(live, known) && live?.status?.phase === known.status?.phase;
  return isSame ? { kind: 'unchanged', version: live?.metadata?.resourceVersion } : { kind: 'changed' };
}

/** `known` is the claim that was decided on, for a volume on the node. */
export function claimWriteState(
  live: PersistentVolumeClaim | undefined,
  known: PersistentVolumeClaim,
  nodeName: string,
): WriteState {
  const marks = live?.metadata?.annotations ?? {};
  const before = known.metadata?.annotations ?? {};
  const isSame = isSameObject(live, known) && marks[annotations.rollback] === undefined;
  if (isSame && marks[annotations.selectedNode] === nodeName) return { kind: 'done' };
  return isSame && marks[annotations.selectedNode] === before[annotations.selectedNode]
    ? { kind: 'unchanged', version: live?.metadata?.resourceVersion }
    : { kind: 'changed' };
}

type VolumeOrClaim = PersistentVolume | PersistentVolumeClaim;

function isSameObject(live: VolumeOrClaim | undefined, known: VolumeOrClaim): boolean {
  return decidedOn(live) === decidedOn(known);
}

function decidedOn(object: VolumeOrClaim | undefined): string {
  const { uid, labels, deletionTimestamp } = object?.metadata ?? {};
  return canonicalJson([uid, labels, deletionTimestamp, object?.spec]);
}
