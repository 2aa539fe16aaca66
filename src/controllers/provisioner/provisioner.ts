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
 * 1. `plan`: decides where the volume will be, from the selected node with its labels and the class with its allowed topologies. It
 *    writes nothing, and is called before anything is written: a claim that cannot be provisioned costs no write.
 * 2. The controller records on the claim that a volume is being created, for which node, and `asset.record` of the plan.
 * 3. `create`: creates it. Its name comes from the claim's uid, so a second call finds the existing one. `refused` means that
 *    nothing is left of it. An exception means that the outcome is unknown: after a back-off, `plan` gets the same record and
 *    `create` is called again, also by another process.
 * 4. The controller writes the PersistentVolume, then removes the record from the claim.
 *
 * `delete` undoes `create`, whether that was finished, half done or never started; a missing volume counts as removed. It is called
 * for a released volume with its PersistentVolume, and without one for a volume whose claim was deleted or bound elsewhere between 2
 * and 4.
 *
 * Calls for one name never overlap within a process. Calls for different names do.
 */
export interface Provisioner<Plan extends VolumePlan = VolumePlan> {
  /** The name that a class uses. */
  readonly name: string;
  plan(
    request: ProvisionRequest,
    signal: AbortSignal,
  ): VolumePlanOutcome<Plan> | Promise<VolumePlanOutcome<Plan>>;
  /** The caller passes a plan that `plan` of the same provisioner has returned. */
  create(plan: Plan, signal: AbortSignal): Promise<VolumeCreateOutcome>;
  delete(asset: ProvisionedAsset, signal: AbortSignal): Promise<void>;
  /** The volume of the claim is recorded, or undone: what was kept for its creation is needed no more. May be called more than once. */
  settled?(claim: PersistentVolumeClaim, signal: AbortSignal): Promise<void>;
  /** Whether it created this volume, which names it. By default if the volume is named after its claim. */
  isCreatorOf?(volume: PersistentVolume): boolean;
}

/** Finds provisioners by name; drivers may join later. Classes with other names are left to other provisioners. */
export interface Provisioners {
  get(name: string): Provisioner | undefined;
  has(name: string): boolean;
}

export interface ProvisionRequest {
  /** The name of the new volume; with the record of the first attempt, if this is a repetition. */
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
  /** The claim, while the volume is not recorded. */
  readonly claim?: PersistentVolumeClaim;
  /**
   * The part of the plan that a repetition of `create` needs to send the same arguments. It is stored on the claim, where users can
   * change it: it must contain nothing that they may not decide.
   */
  readonly record?: string;
}

/** The provisioner's decisions about a volume before it exists. */
export interface VolumePlan extends CreatedVolume {
  readonly asset: ProvisionedAsset;
}

/** The fields that the provisioner determines; the rest of a PersistentVolume follows from the claim and the class. */
export interface CreatedVolume {
  readonly source: PersistentVolumeSource;
  /** Every node can reach the volume, if left out. */
  readonly nodeAffinity?: VolumeNodeAffinity;
  /** Those of the claim, if left out. */
  readonly accessModes?: readonly PersistentVolumeAccessMode[];
  /** The size that the claim requests, if left out. */
  readonly capacityBytes?: bigint;
  /** The class of its mutable parameters, if it has some. */
  readonly volumeAttributesClassName?: string;
  /** Annotations in addition to those of every provisioned volume. */
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface RefusedOutcome {
  readonly kind: 'refused';
  /** Human-readable: what is wrong, and what to do about it. */
  readonly message: string;
  /**
   * - `move`: not on this node; the selected node is removed, so that the scheduler chooses again.
   * - `retry`: the same request may succeed later; it is repeated with back-off.
   * - `change`: the answer stays the same until an object changes; it is repeated at the longest interval.
   */
  readonly next: 'move' | 'retry' | 'change';
  /** The reason of the Event; `ProvisioningFailed` if left out. */
  readonly reason?: string;
}

export type VolumePlanOutcome<Plan extends VolumePlan = VolumePlan> =
  | { readonly kind: 'planned'; readonly plan: Plan }
  | RefusedOutcome;
export type VolumeCreateOutcome =
  | { readonly kind: 'created'; readonly volume: CreatedVolume }
  | RefusedOutcome;

export function refusedOutcome(message: string, next: RefusedOutcome['next'] = 'move'): RefusedOutcome {
  return { kind: 'refused', message, next };
}

/** The asset of a claim while no PersistentVolume records it. */
export function assetFor(claim: PersistentVolumeClaim, record?: string): ProvisionedAsset {
  const claimUid = claim.metadata?.uid ?? '';
  return { ...assetOf(claimUid), claim, ...(record === undefined ? {} : { record }) };
}

/** The asset of a claim's uid, which is recorded as `volume` once that exists. */
export function assetOf(claimUid: string, volume?: PersistentVolume): ProvisionedAsset {
  return { name: `pvc-${claimUid}`, claimUid, ...(volume === undefined ? {} : { volume }) };
}
