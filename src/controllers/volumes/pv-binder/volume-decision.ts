import { hasAnnotation } from '../../../kube/annotations.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../kube/api/core.ts';
import { volumeModeOf } from '../../../kube/volumes.ts';
import { annotations } from '../../../kube/well-known.ts';
import type { BinderEvent } from './binder-events.ts';

/** What is to be done about a volume. */
export type VolumeDecision =
  | { readonly kind: 'phase'; readonly phase: 'Available' | 'Bound' }
  /** Its claim is gone, or took another volume and no longer needs this one. */
  | { readonly kind: 'release' }
  /** The claim is bound elsewhere: another volume won. */
  | { readonly kind: 'unbind' }
  /** The claim's side isn't written yet. */
  | { readonly kind: 'finish-claim' }
  | { readonly kind: 'mode-mismatch' };

/** `claim` is the one that the claimRef means by name and uid; undefined if it is gone. */
export function decideVolume(
  volume: PersistentVolume,
  claim: PersistentVolumeClaim | undefined,
): VolumeDecision {
  // Without a uid it is reserved, and on offer to whoever gets the name; the claim's own turn does the rest.
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

/** What is told of a reserved volume that can't be its claim's: to whoever looks at the volume, and at the claim. */
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
