import type {
  Node,
  PersistentVolume,
  PersistentVolumeAccessMode,
  PersistentVolumeClaim,
  PersistentVolumeSource,
  VolumeNodeAffinity,
} from '../../kube/api/core.ts';
import type { StorageClass } from '../../kube/api/storage.ts';
import type { SpreadPosition } from './spread.ts';

/**
 * Creates volumes for claims whose class names it. The controller calls, in this order:
 *
 * 1. `plan`: decides where the volume will be, from the selected node with its labels and the class with its allowed topologies.
 *    Pure, and called before anything is written: a claim that cannot be provisioned costs no write.
 * 2. The controller records on the claim that a volume is being created, and for which node.
 * 3. `create`: creates it. Its name comes from the claim's uid, so a second call finds the existing one. `refused` means that
 *    nothing is left of it. An exception means that the outcome is unknown: the same call is repeated after a back-off.
 * 4. The controller writes the PersistentVolume, then removes the record from the claim.
 *
 * `delete` undoes `create`, whether that was finished, half done or never started; a missing volume counts as removed. It is called
 * for a released volume, and for one whose claim was deleted or bound elsewhere between 2 and 4.
 *
 * Calls for one name never overlap within a process. Calls for different names do.
 */
export interface Provisioner {
  /** The name that a class uses. */
  readonly name: string;
  plan(request: ProvisionRequest): VolumePlanOutcome;
  create(plan: VolumePlan, signal: AbortSignal): Promise<VolumeCreateOutcome>;
  delete(asset: ProvisionedAsset, signal: AbortSignal): Promise<void>;
}

/** By name. Classes with other names are left to other provisioners. */
export type Provisioners = ReadonlyMap<string, Provisioner>;

export interface ProvisionRequest {
  /** The name of the new volume. */
  readonly asset: ProvisionedAsset;
  readonly claim: PersistentVolumeClaim;
  readonly storageClass: StorageClass;
  /** Where the pod is going to run; absent if the class binds immediately. */
  readonly selectedNode?: Node;
  /** All nodes, for provisioners that choose a location without a selected node, or a second one. */
  readonly nodes: Iterable<Node>;
  readonly spread: SpreadPosition;
}

/** The part of a volume outside the cluster. */
export interface ProvisionedAsset {
  /** `pvc-` and the uid of the claim: also the name of the PersistentVolume. */
  readonly name: string;
  readonly claimUid: string;
  /** Absent while the volume is not recorded. */
  readonly volume?: PersistentVolume;
}

/** What the provisioner decides about a volume; the rest of a PersistentVolume follows from the claim and the class. */
export interface VolumePlan {
  readonly asset: ProvisionedAsset;
  readonly source: PersistentVolumeSource;
  readonly nodeAffinity: VolumeNodeAffinity;
  /** Those of the claim, if left out. */
  readonly accessModes?: readonly PersistentVolumeAccessMode[];
}

export interface RefusedOutcome {
  readonly kind: 'refused';
  /** Human-readable: what is wrong, and what to do about it. */
  readonly message: string;
}

export type VolumePlanOutcome = { readonly kind: 'planned'; readonly plan: VolumePlan } | RefusedOutcome;
export type VolumeCreateOutcome = { readonly kind: 'created'; readonly plan: VolumePlan } | RefusedOutcome;

export function refusedOutcome(message: string): RefusedOutcome {
  return { kind: 'refused', message };
}

export function assetOf(claimUid: string, volume?: PersistentVolume): ProvisionedAsset {
  return { name: `pvc-${claimUid}`, claimUid, ...(volume === undefined ? {} : { volume }) };
}
