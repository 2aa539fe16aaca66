import type { PersistentVolumeClaim } from '../../kube/api/core.ts';
import type { StorageClass } from '../../kube/api/storage.ts';
import { claimClassName, isDelayedBinding } from '../../kube/volumes.ts';
import { annotations } from '../../kube/well-known.ts';
import { lookUp, textOf } from '../../kube/wire.ts';

/** Today's name first, then those of its alpha and of the original proposal. */
export const selectedNodeAnnotations: readonly string[] = [
  annotations.selectedNode,
  'volume.alpha.kubernetes.io/selected-node',
  'volume.alpha.kubernetes.io/selectedNode',
];

/** Who has to act on the claim, as the binder of volumes wrote it; empty where nobody was asked. */
export function provisionerOf({ metadata }: PersistentVolumeClaim): string {
  return (
    lookUp(metadata?.annotations, annotations.storageProvisioner) ??
    lookUp(metadata?.annotations, annotations.betaStorageProvisioner) ??
    ''
  );
}

/** Where the scheduler wants the volume; empty where it has not said so. */
function selectedNodeOf({ metadata }: PersistentVolumeClaim): string {
  const found = selectedNodeAnnotations.map((key) => textOf(lookUp(metadata?.annotations, key)));
  return found.find((node) => node !== '') ?? '';
}

/** Whether the claim still needs a volume at all. */
export function needsVolume({ metadata, spec }: PersistentVolumeClaim): boolean {
  return metadata?.deletionTimestamp === undefined && textOf(spec?.volumeName) === '';
}

/** What is to be made; `node` is empty where the class binds immediately. */
export interface VolumeDemand {
  readonly provisioner: string;
  readonly node: string;
}

/**
 * Undefined where nothing is to be made now: the class has another provisioner by now, which the binder of volumes is going to
 * write down; or it waits for its first consumer, and no node was selected yet. Without volume scheduling nobody selects nodes, and
 * nothing waits.
 */
export function demandOf(
  claim: PersistentVolumeClaim,
  storageClass: StorageClass,
  volumeScheduling = true,
): VolumeDemand | undefined {
  const provisioner = provisionerOf(claim);
  if (!needsVolume(claim) || provisioner === '' || storageClass.provisioner !== provisioner) return undefined;
  if (!isDelayedBinding(storageClass)) return { provisioner, node: '' };
  const node = selectedNodeOf(claim);
  return node === '' && volumeScheduling ? undefined : { provisioner, node };
}

/** All that a decision depends on. Our own notes on a claim are no reason to look at it again. */
export function demandKey(claim: PersistentVolumeClaim): string {
  return JSON.stringify([
    provisionerOf(claim),
    selectedNodeOf(claim),
    claimClassName(claim),
    textOf(claim.spec?.volumeName),
    claim.metadata?.deletionTimestamp !== undefined,
  ]);
}
