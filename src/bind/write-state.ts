import type { PersistentVolume, PersistentVolumeClaim } from '../kube/api/core.ts';
import { canonicalJson } from '../kube/go/json-text.ts';
import { annotations } from '../kube/well-known.ts';
import type { WriteState } from './retry-while-valid.ts';

/*
 * Whether a decision that could not be written still holds for the object as it is now. Words that somebody added don't matter; what
 * it is, where it is and whether it is free do.
 */

/** `known` is the volume as it was decided on, for the claim of that uid. */
export function volumeWriteState(
  live: PersistentVolume | undefined,
  known: PersistentVolume,
  claimUid: string,
): WriteState {
  if (live?.spec?.claimRef?.uid === claimUid) return { kind: 'done' };
  const isSame = isSameObject(live, known) && live?.status?.phase === known.status?.phase;
  return isSame ? { kind: 'as-decided', version: live?.metadata?.resourceVersion } : { kind: 'changed' };
}

/** `known` is the claim as it was decided on, for a volume on the node. */
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
    ? { kind: 'as-decided', version: live?.metadata?.resourceVersion }
    : { kind: 'changed' };
}

type Stored = PersistentVolume | PersistentVolumeClaim;

function isSameObject(live: Stored | undefined, known: Stored): boolean {
  return substanceOf(live) === substanceOf(known);
}

function substanceOf(object: Stored | undefined): string {
  const { uid, labels, deletionTimestamp } = object?.metadata ?? {};
  return canonicalJson([uid, labels, deletionTimestamp, object?.spec]);
}
