import type {
  ObjectReference,
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeMode,
} from './api/core.ts';
import type { StorageClass } from './api/storage.ts';
import { type CompiledNodeSelector, compileNodeSelector } from './selectors/node-selector.ts';
import { annotations, noProvisioner } from './well-known.ts';
import { lookUp, textOf } from './wire.ts';

/** The claim's class. The beta annotation wins over the spec, even when it is empty; '' means no class. */
export function claimClassName(claim: PersistentVolumeClaim): string {
  return betaClassName(claim) ?? textOf(claim?.spec?.storageClassName);
}

/** The volume's class, by the same rule. */
export function volumeClassName(volume: PersistentVolume): string {
  return betaClassName(volume) ?? textOf(volume?.spec?.storageClassName);
}

/** Whether the claim says anything about its class. Naming the class '' says something: no default class, please. */
export function claimHasClass(claim: PersistentVolumeClaim): boolean {
  return betaClassName(claim) !== undefined || typeof claim?.spec?.storageClassName === 'string';
}

/** Bound for good: both sides are written. Neither the phase, which comes later, nor the annotation's value counts. */
export function isFullyBound(claim: PersistentVolumeClaim): boolean {
  const completed: unknown = claim?.metadata?.annotations?.[annotations.bindCompleted];
  return textOf(claim?.spec?.volumeName) !== '' && completed !== undefined;
}

/**
 * Whether a volume's claimRef means this claim. Without a uid it was written by a person before the claim existed and
 * means whichever claim has the name; with another uid it means a claim that is gone.
 */
export function isClaimRefTo(
  claimRef: ObjectReference | null | undefined,
  claim: PersistentVolumeClaim,
): boolean {
  const name = textOf(claimRef?.name);
  if (name === '' || name !== claim?.metadata?.name) return false;
  if (textOf(claimRef?.namespace) !== textOf(claim.metadata.namespace)) return false;
  const uid = textOf(claimRef?.uid);
  return uid === '' || uid === claim.metadata.uid;
}

export function volumeModeOf(object: PersistentVolume | PersistentVolumeClaim): PersistentVolumeMode {
  return object?.spec?.volumeMode === 'Block' ? 'Block' : 'Filesystem';
}

/** Where the volume can be reached from; undefined means everywhere. */
export function volumeNodeSelector(volume: PersistentVolume): CompiledNodeSelector | undefined {
  const required = volume?.spec?.nodeAffinity?.required;
  if (required === undefined || required === null) return undefined;
  return compileNodeSelector(required, 'spec.nodeAffinity.required');
}

/** The claim that belongs to a pod's generic ephemeral volume. */
export function ephemeralClaimName(podName: string, volumeName: string): string {
  return `${podName}-${volumeName}`;
}

/** Whether claims of this class wait until a pod that uses them is placed. */
export function isDelayedBinding(storageClass: StorageClass | undefined): boolean {
  return storageClass?.volumeBindingMode === 'WaitForFirstConsumer';
}

/** Whether somebody makes volumes for this class. */
export function canProvision(storageClass: StorageClass | undefined): boolean {
  const provisioner = textOf(storageClass?.provisioner);
  return provisioner !== '' && provisioner !== noProvisioner;
}

function betaClassName(object: PersistentVolume | PersistentVolumeClaim): string | undefined {
  return lookUp(object?.metadata?.annotations, annotations.betaStorageClass);
}
