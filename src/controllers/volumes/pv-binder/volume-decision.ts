import { hasAnnotation } from '../../../kube/annotations.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../kube/api/core.ts';
import { volumeModeOf } from '../../../kube/volumes.ts';
import { annotations } from '../../../kube/well-known.ts';
import type { BinderEvent } from './binder-events.ts';

/** The next step for a volume. */
export type VolumeDecision =
  | { readonly kind: 'phase'; readonly phase: 'Available' | 'Bound' }
  /** Its claim no longer exists, or took another volume and no longer needs this one. */
  | { readonly kind: 'release' }
  /** The claim is bound to another volume. */
  | { readonly kind: 'unbind' }
  /** The claim's side has not been written yet. */
  | { readonly kind: 'finish-claim' }
  | { readonly kind: 'mode-mismatch' };

/** `claim` is the claim of the claimRef by name and uid; undefined if it no longer exists. */
export function decideVolume(
  volume: PersistentVolume,
  claim: PersistentVolumeClaim | undefined,
): VolumeDecision {
  // Without a uid the volume is reserved for any claim of that name; reconciling the claim does the rest.
  if ((volume.spec?.claimRef?.uid ?? '') === '') return { kind: 'phase', phase: 'Available' };
  if (claim === undefined) return { kind: 'release' };
  const chosen = claim.spec?.volumeName ?? '';
  if (chosen === '') {
    return { kind: volumeModeOf(claim) === volumeModeOf(volume) ? 'finish-claim' : 'mode-mismatch' };
  }
  if (chosen === volume.metadata?.name) return { kind: 'phase', phase: 'Bound' };
  const isMadeForClaim = hasAnnotation(volume, annotations.provisionedBy);
  const isDeletable = volume.spec?.persistentVolumeReclaimPolicy === 'Delete';
  return { kind: isMadeForClaim && isDeletable ? 'release' : 'unbind' };
}

/** The Event about a reserved volume that cannot be bound to its claim, for both objects. */
export function modeMismatch(
  volume: PersistentVolume,
  claim: PersistentVolumeClaim,
): { readonly onVolume: BinderEvent; readonly onClaim: BinderEvent } {
  const warning = { type: 'Warning', reason: 'VolumeMismatch' } as const;
  return {
    onVolume: {
      ...warning,
      note: `Cannot bind PersistentVolume to requested PersistentVolumeClaim "${claim.metadata?.name}" due to incompatible volumeMode.`,
    },
    onClaim: {
      ...warning,
      note: `Cannot bind PersistentVolume "${volume.metadata?.name}" to requested PersistentVolumeClaim due to incompatible volumeMode.`,
    },
  };
}
