import type {
  ObjectReference,
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeMode,
} from './api/core.ts';
import type { StorageClass } from './api/storage.ts';
import { parseTimestamp } from './go/timestamp.ts';
import { type CompiledNodeSelector, compileNodeSelector } from './selectors/node-selector.ts';
import { annotations, noProvisioner } from './well-known.ts';
import { lookUp, textOf } from './wire.ts';

/** The claim's class. The beta annotation has precedence over the spec, even if it is empty; '' means no class. */
export function claimClassName(claim: PersistentVolumeClaim): string {
  return betaClassName(claim) ?? textOf(claim?.spec?.storageClassName);
}

/** The volume's class, by the same rule. */
export function volumeClassName(volume: PersistentVolume): string {
  return betaClassName(volume) ?? textOf(volume?.spec?.storageClassName);
}

/** Whether the claim sets its class. The class '' counts as set: the claim gets no default class. */
export function claimHasClass(claim: PersistentVolumeClaim): boolean {
  return betaClassName(claim) !== undefined || typeof claim?.spec?.storageClassName === 'string';
}

/** Whether both sides of the binding are written. The phase, which is set later, and the annotation's value don't count. */
export function isFullyBound(claim: PersistentVolumeClaim): boolean {
  const completed: unknown = claim?.metadata?.annotations?.[annotations.bindCompleted];
  return textOf(claim?.spec?.volumeName) !== '' && completed !== undefined;
}

/**
 * Whether a volume's claimRef refers to this claim. A claimRef without a uid was written by a person before the claim
 * existed and refers to any claim of that name; one with another uid refers to a deleted claim.
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

/** The nodes that can reach the volume; undefined means all nodes. */
export function volumeNodeSelector(volume: PersistentVolume): CompiledNodeSelector | undefined {
  const required = volume?.spec?.nodeAffinity?.required;
  if (required === undefined || required === null) return undefined;
  return compileNodeSelector(required, 'spec.nodeAffinity.required');
}

/**
 * When the driver had created the volume. A provisioner of ours writes the exact time; it measures capacity with the same clock. For the
 * volumes of others the PersistentVolume's creation counts, which comes after the volume's. It has whole seconds, cut off, so the next
 * second is the earliest that is certainly not too early. That is the API server's clock: a publisher whose clock is ahead of it by more
 * than the rest of that second could measure too early and seem to have measured later.
 */
export function volumeExistsAtMs({ metadata }: PersistentVolume): number | undefined {
  const exactMs = parseTimestamp(metadata?.annotations?.[annotations.volumeCreatedAt]);
  if (exactMs !== undefined) return exactMs;
  const createdAtMs = parseTimestamp(metadata?.creationTimestamp);
  return createdAtMs === undefined ? undefined : createdAtMs + 1000;
}

/** When the driver had last expanded the volume; undefined if its expander does not say. */
export function volumeExpandedAtMs({ metadata }: PersistentVolume): number | undefined {
  return parseTimestamp(metadata?.annotations?.[annotations.volumeExpandedAt]);
}

/** The name of the claim of a pod's generic ephemeral volume. */
export function ephemeralClaimName(podName: string, volumeName: string): string {
  return `${podName}-${volumeName}`;
}

/** Whether claims of this class stay unbound until a pod that uses them is placed. */
export function isDelayedBinding(storageClass: StorageClass | undefined): boolean {
  return storageClass?.volumeBindingMode === 'WaitForFirstConsumer';
}

/** Whether the class has a provisioner that creates volumes. */
export function canProvision(storageClass: StorageClass | undefined): boolean {
  const provisioner = textOf(storageClass?.provisioner);
  return provisioner !== '' && provisioner !== noProvisioner;
}

function betaClassName(object: PersistentVolume | PersistentVolumeClaim): string | undefined {
  return lookUp(object?.metadata?.annotations, annotations.betaStorageClass);
}

/** Whether the volume may be attached to one node only. */
export function isExclusive({ spec }: PersistentVolume): boolean {
  const modes = spec?.accessModes ?? [];
  return modes.length > 0 && modes.every((mode) => mode === 'ReadWriteOnce' || mode === 'ReadWriteOncePod');
}

/** Whether only one pod may use the volume. */
export function isForOnePod({ spec }: PersistentVolume): boolean {
  const modes = spec?.accessModes ?? [];
  return modes.length === 1 && modes[0] === 'ReadWriteOncePod';
}
