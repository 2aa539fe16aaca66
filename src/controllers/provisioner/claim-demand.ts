import type { PersistentVolumeClaim } from '../../kube/api/core.ts';
import type { StorageClass } from '../../kube/api/storage.ts';
import { claimClassName, isDelayedBinding } from '../../kube/volumes.ts';
import { annotations } from '../../kube/well-known.ts';
import { lookUp, textOf } from '../../kube/wire.ts';

/** The current name first, then those of its alpha and of the original proposal. */
export const selectedNodeAnnotations: readonly string[] = [
  annotations.selectedNode,
  'volume.alpha.kubernetes.io/selected-node',
  'volume.alpha.kubernetes.io/selectedNode',
];

/** The provisioner that the PV binder wrote on the claim; empty if there is none. */
export function provisionerOf({ metadata }: PersistentVolumeClaim): string {
  return (
    lookUp(metadata?.annotations, annotations.storageProvisioner) ??
    lookUp(metadata?.annotations, annotations.betaStorageProvisioner) ??
    ''
  );
}

/** The node that the scheduler selected; empty if there is none. */
export function selectedNodeName({ metadata }: PersistentVolumeClaim): string {
  const found = selectedNodeAnnotations.map((key) => textOf(lookUp(metadata?.annotations, key)));
  return found.find((node) => node !== '') ?? '';
}

/** Whether the claim still needs a volume at all. */
export function needsVolume({ metadata, spec }: PersistentVolumeClaim): boolean {
  return metadata?.deletionTimestamp === undefined && textOf(spec?.volumeName) === '';
}

/** The volume to create; `node` is empty if the class binds immediately. */
export interface VolumeDemand {
  readonly provisioner: string;
  readonly node: string;
}

export interface DemandOptions {
  /** Off: WaitForFirstConsumer classes do not wait. */
  readonly volumeScheduling?: boolean;
  /** Each node has its own provisioner, which selects its node also for claims that bind immediately. */
  readonly isNodeDeployment?: boolean;
}

/**
 * Undefined if nothing has to be created now: the class has another provisioner by now, which the PV binder is going to
 * write to the claim; or it waits for its first consumer, and no node was selected yet. Without volume scheduling no scheduler selects
 * nodes, and nothing waits.
 */
export function demandOf(
  claim: PersistentVolumeClaim,
  storageClass: StorageClass,
  { volumeScheduling = true, isNodeDeployment = false }: DemandOptions = {},
): VolumeDemand | undefined {
  const provisioner = provisionerOf(claim);
  if (!needsVolume(claim) || provisioner === '' || storageClass.provisioner !== provisioner) return undefined;
  if (!isDelayedBinding(storageClass) && !isNodeDeployment) return { provisioner, node: '' };
  const node = selectedNodeName(claim);
  return node === '' && volumeScheduling ? undefined : { provisioner, node };
}

/** Everything that a decision depends on. A change of our own annotations must not reconcile the claim again. */
export function demandKey(claim: PersistentVolumeClaim): string {
  return JSON.stringify([
    provisionerOf(claim),
    selectedNodeName(claim),
    claimClassName(claim),
    textOf(claim.spec?.volumeName),
    claim.metadata?.deletionTimestamp !== undefined,
  ]);
}
