import { ephemeralStorageClassName } from '../../../kube/stowage/driver-capacity.ts';
import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import type { Topology } from '../../cluster-index/nodes/topology-table.ts';
import { policyOfClaim } from '../../cluster-index/pools/policies/policy-of-claim.ts';
import { spreadGroupOf } from '../../cluster-index/pools/policies/spread-group.ts';
import { lookUpInlinePools, lookUpPools, type PoolLookup } from '../../cluster-index/pools/pool-lookup.ts';
import { inlineVolumeId } from '../../cluster-index/pools/promise-ids.ts';
import { type InFlightPolicy, inFlightPolicy } from '../../cluster-index/profile.ts';
import { compareVolumes, type VolumeRow } from '../../cluster-index/volumes/volume-table.ts';
import type { DriveKind } from '../../drives/drive-requirements.ts';
import type { VolumeConditions } from '../../drives/drive-rule.ts';
import { offersModes } from '../../records/access-modes.ts';
import type { ClaimRecord } from '../../records/claim-record.ts';
import type { PodRecord } from '../../records/pod-record.ts';
import type { VolumeRecord } from '../../records/volume-record.ts';
import { compareSizes, type Size, zeroSize } from '../../size.ts';

/** The volumes that a pod needs. */
export interface VolumeNeeds {
  readonly bound: readonly BoundNeed[];
  readonly requests: readonly ClaimRequest[];
}

/** A claim that is bound; its volume may be gone. */
export interface BoundNeed {
  readonly claim: ClaimRecord;
  readonly row: VolumeRow | undefined;
}

/** A volume that is still to be found or provisioned. */
export interface ClaimRequest {
  /** Its position among the requests, and in every column by request. */
  readonly position: number;
  readonly name: string;
  /** Undefined for an inline volume. */
  readonly claim: ClaimRecord | undefined;
  readonly size: Size;
  /** Decides among equal drives: something random that a repeated plan repeats. */
  readonly tieBreakKey: string;
  /** The node that it is already being provisioned for; undefined for none. */
  readonly pinnedNode: string | undefined;
  /** Volumes that are reserved for this claim by their claimRef or by a reservation, best first. */
  readonly reserved: readonly VolumeRow[];
  /** How a new volume would be provisioned; undefined if that is impossible. */
  readonly provisioning: VolumeProvisioning | undefined;
}

/** The conditions are for volumes on drives only. */
export interface VolumeProvisioning extends VolumeConditions {
  readonly className: string;
  readonly driver: string;
  readonly allowed: Topology;
  readonly pools: PoolLookup;
  readonly policy: InFlightPolicy;
  /** The drives that it accepts. Only for volumes on drives. */
  readonly driveKind?: DriveKind | undefined;
}

export function boundNeed(index: ClusterIndex, claim: ClaimRecord): BoundNeed {
  return { claim, row: index.volumes.row(claim.volumeName) };
}

export function wantOfClaim(
  index: ClusterIndex,
  claim: ClaimRecord,
  { position, pod }: { readonly position: number; readonly pod?: PodRecord },
): ClaimRequest {
  const pinnedNode = pinnedNodeOf(index, claim);
  return {
    position,
    name: claim.key,
    claim,
    size: claim.request ?? zeroSize,
    tieBreakKey: claim.uid,
    pinnedNode,
    reserved: pinnedNode === undefined ? reservedVolumes(index, claim) : [],
    provisioning: provisioningForClaim(index, claim, pod),
  };
}

/** Inline volumes with a size: on drives, or of drivers that publish capacity for the class `<ephemeral>`, which CSIStorageCapacity can't express. */
export function wantsOfInline(index: ClusterIndex, pod: PodRecord, firstPosition: number): ClaimRequest[] {
  if (!index.profile.checkInlineVolumes) return [];
  const requests: ClaimRequest[] = [];
  for (const volume of pod.inlineVolumes) {
    const { volumeName, driver, size } = volume;
    const pools = lookUpInlinePools(index, volume);
    if (size === undefined || pools.kind === 'untracked') continue;
    requests.push({
      position: firstPosition + requests.length,
      name: inlineVolumeId(pod.key, volumeName),
      claim: undefined,
      size,
      tieBreakKey: `${pod.uid} ${volumeName}`,
      pinnedNode: undefined,
      reserved: [],
      provisioning: {
        className: ephemeralStorageClassName,
        driver,
        allowed: index.everyNode,
        pools,
        policy: inFlightPolicy(index.profile, driver),
        driveKind: volume.drive,
      },
    });
  }
  return requests;
}

/** The node that the claim's volume is being provisioned for: by its annotation, or by a reservation of another pod that uses it. */
function pinnedNodeOf(index: ClusterIndex, claim: ClaimRecord): string | undefined {
  if (claim.selectedNode !== '') return claim.selectedNode;
  if (claim.hasSelectedNode && index.profile.emptySelectedNodePins) return claim.selectedNode;
  const promised = index.promises.get(claim.key);
  return promised !== undefined && promised.reservations > 0 ? promised.nodeName : undefined;
}

function reservedVolumes(index: ClusterIndex, claim: ClaimRecord): readonly VolumeRow[] {
  const held = index.volumes.heldFor(claim.key);
  const records = held === undefined ? index.volumes.claimedFor(claim.key).filter(isForClaim) : [held];
  return records.sort(compareVolumes).map((volume) => index.volumes.row(volume.key)!);

  function isForClaim(volume: VolumeRecord): boolean {
    if (!servesAsPrebound(volume, claim)) return false;
    // The PV controller ignores a volume that lacks the access modes, so the binding would never complete.
    return index.profile.preboundIsFinal
      ? offersModes(volume.accessModes, claim.accessModes)
      : volume.className === claim.className;
  }
}

/**
 * The checks of a pre-bound volume that kube-scheduler and the PV controller share; they ignore phase, class, labels and access modes. A
 * volume that fails them counts as absent.
 */
export function servesAsPrebound(volume: VolumeRecord, claim: ClaimRecord): boolean {
  if (volume.claim?.claimKey !== claim.key) return false;
  const isNamed = volume.claim.uid === '' || volume.claim.uid === claim.uid;
  if (!isNamed || !volume.isUsable || volume.isDeleting) return false;
  return (
    compareSizes(volume.size, claim.request ?? zeroSize) >= 0 &&
    volume.mode === claim.mode &&
    volume.attributesClass === claim.attributesClass
  );
}

function provisioningForClaim(
  index: ClusterIndex,
  claim: ClaimRecord,
  pod: PodRecord | undefined,
): VolumeProvisioning | undefined {
  const storageClass = index.classes.get(claim.className);
  if (storageClass === undefined || !storageClass.canProvision) return undefined;
  const { provisioner } = storageClass;
  const pools: PoolLookup = needsCapacity(index, claim)
    ? lookUpPools(index, provisioner, claim.className)
    : { kind: 'untracked' };
  const isOnDrives = pools.kind === 'pools' && pools.entry.isOfDrives;
  return {
    className: claim.className,
    driver: provisioner,
    allowed: index.allowedTopology(claim.className),
    pools,
    policy: inFlightPolicy(index.profile, provisioner),
    driveKind: storageClass.driveClass,
    spreadGroup: isOnDrives ? spreadGroupOf(index, claim, pod) : undefined,
    growthReservePercent: isOnDrives ? policyOfClaim(index, claim).growthReservePercent : 0,
  };
}

/**
 * A claim without a size needs no capacity. A claim that is already being provisioned has its capacity promised: checking again could
 * refuse the node whose pool its volume has just filled.
 */
function needsCapacity(index: ClusterIndex, claim: ClaimRecord): boolean {
  if (claim.request === undefined) return false;
  return index.profile.retestSelectedNode || pinnedNodeOf(index, claim) === undefined;
}
