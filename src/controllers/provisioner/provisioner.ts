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
 * Makes volumes for claims whose class names it. The controller calls, in this order:
 *
 * 1. `plan`: where the volume is to be, from the selected node with its labels and the class with its allowed topologies.
 *    Pure, and asked before anything is written: a claim that can't be served costs no write.
 * 2. The controller stores on the claim that a volume is being made, and for which node.
 * 3. `make`: makes it. Its name comes from the claim's uid, so making it again finds what is there. `refused` says that
 *    nothing is left of it. Whoever throws doesn't know what is left: the same call comes again after a back-off.
 * 4. The controller writes the PersistentVolume, then takes the note off the claim.
 *
 * `remove` undoes `make`, whether that was finished, half done or never begun; what isn't there is removed already. It is called
 * for a volume that was released, and for one whose claim was deleted or went elsewhere between 2 and 4.
 *
 * For one name the calls never overlap within a process. For different names they do.
 */
export interface Provisioner {
  /** What a class calls it. */
  readonly name: string;
  plan(request: ProvisionRequest): VolumePlanOutcome;
  make(plan: VolumePlan, signal: AbortSignal): Promise<VolumeMakeOutcome>;
  remove(asset: ProvisionedAsset, signal: AbortSignal): Promise<void>;
}

/** By name. Classes that name nobody here are left to others. */
export type Provisioners = ReadonlyMap<string, Provisioner>;

export interface ProvisionRequest {
  /** What the volume will be called. */
  readonly asset: ProvisionedAsset;
  readonly claim: PersistentVolumeClaim;
  readonly storageClass: StorageClass;
  /** Where the pod is going to run; absent where the class binds immediately. */
  readonly selectedNode?: Node;
  /** All there are, for whoever has to find a place without a selected node, or a second one. */
  readonly nodes: Iterable<Node>;
  readonly spread: SpreadPosition;
}

/** What stands for a volume outside the cluster. */
export interface ProvisionedAsset {
  /** `pvc-` and the uid of the claim: the name of the PersistentVolume, too. */
  readonly name: string;
  readonly claimUid: string;
  /** Absent while the volume is not recorded. */
  readonly volume?: PersistentVolume;
}

/** What the provisioner knows of a volume; all the rest of a PersistentVolume follows from the claim and the class. */
export interface VolumePlan {
  readonly asset: ProvisionedAsset;
  readonly source: PersistentVolumeSource;
  readonly nodeAffinity: VolumeNodeAffinity;
  /** Those of the claim, where left out. */
  readonly accessModes?: readonly PersistentVolumeAccessMode[];
}

export interface RefusedOutcome {
  readonly kind: 'refused';
  /** For people: what is wrong, and what to do about it. */
  readonly message: string;
}

export type VolumePlanOutcome = { readonly kind: 'planned'; readonly plan: VolumePlan } | RefusedOutcome;
export type VolumeMakeOutcome = { readonly kind: 'made'; readonly plan: VolumePlan } | RefusedOutcome;

export function refusedOutcome(message: string): RefusedOutcome {
  return { kind: 'refused', message };
}

export function assetOf(claimUid: string, volume?: PersistentVolume): ProvisionedAsset {
  return { name: `pvc-${claimUid}`, claimUid, ...(volume === undefined ? {} : { volume }) };
}
