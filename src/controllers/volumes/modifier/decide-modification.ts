import type { PersistentVolume, PersistentVolumeClaim } from '../../../kube/api/core.ts';
import { getCondition } from '../../../kube/conditions.ts';

/** The next step for the attributes of a claim's volume. */
export type ModificationStep =
  | { readonly kind: 'nothing' }
  /** The claim names no class any more, and nothing is in progress. */
  | { readonly kind: 'cancel' }
  /** The claim names another class. */
  | { readonly kind: 'start'; readonly className: string }
  /** An earlier call may have succeeded, or may still be in progress: the same class follows, whatever the claim names by now. */
  | { readonly kind: 'continue'; readonly className: string };

const nothing: ModificationStep = { kind: 'nothing' };

/**
 * As external-resizer (KEP 3751): a modification whose outcome is unknown is finished first; any other is replaced by what the claim names,
 * so a claim can return to its old class after an infeasible one. `hasFailed`: the last call has ended without effect.
 */
export function decideModification(
  { metadata, spec, status }: PersistentVolumeClaim,
  volume: PersistentVolume,
  hasFailed: boolean,
): ModificationStep {
  const isBound = status?.phase === 'Bound' && volume.spec?.claimRef?.uid === metadata?.uid;
  if (!isBound) return nothing;
  const wanted = spec?.volumeAttributesClassName ?? '';
  const progress = status?.modifyVolumeStatus;
  if (progress === undefined && wanted === (status?.currentVolumeAttributesClassName ?? '')) return nothing;
  const isInProgress = progress?.status === 'InProgress';
  if (wanted === '' && !isInProgress) {
    const isMarked = getCondition(status?.conditions, 'ModifyingVolume') !== undefined;
    return isMarked ? { kind: 'cancel' } : nothing;
  }
  if (isInProgress && (!hasFailed || wanted === ''))
    return { kind: 'continue', className: progress.targetVolumeAttributesClassName ?? wanted };
  return { kind: 'start', className: wanted };
}
