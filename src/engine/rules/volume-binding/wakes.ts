import { drivesDriver } from '../../../kube/stowage/drive.ts';
import type { ClusterChange, ObjectChange, ReleaseChange } from '../../cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import { isBeingProvisioned } from '../../cluster-index/pools/promise-table.ts';
import type { ClaimRecord } from '../../records/claim-record.ts';
import type { ClassRecord } from '../../records/class-record.ts';
import type { DriverRecord } from '../../records/driver-record.ts';
import { haveSameLabels } from '../../records/labels.ts';
import type { NodeRecord } from '../../records/node-record.ts';
import type { PoolRecord } from '../../records/pool-record.ts';
import { policyKey } from '../../records/volume-policy.ts';
import type { VolumeRecord } from '../../records/volume-record.ts';
import type { Interest } from '../framework/rule.ts';
import { attachmentsDiffer, driversMayHelp } from '../volume-limits/attach-wakes.ts';
import { isOwnClaimChange } from '../wake-conditions/own-claim.ts';
import { occupancyKey } from '../wake-conditions/pod-moves.ts';
import { changesDriveOf, driveMayHelp } from './drive-wakes.ts';
import { changesPoolsOf, driverPoolsMayHelp, gainingPools, mayServe } from './pool-wakes.ts';

/**
 * Changes that could help a pod whose volumes did not fit. More precise than kube-scheduler: a PersistentVolume wakes only pods that want
 * its class and size or already name it, and a pool wakes only pods of whose classes it may serve a volume, when it may have more capacity.
 */
export function volumesWokenBy(interest: Interest, change: ClusterChange, index: ClusterIndex): boolean {
  if (change.kind === 'Release') return isReleased(interest, change, index);
  if (change.freedPools.some((pool) => mayServe(interest, pool, index))) return true;
  if (interest.lacksSlots && attachmentsDiffer(interest, change)) return true;
  switch (change.kind) {
    case 'PersistentVolumeClaim':
      return isOwnClaimChange(interest, change);
    case 'PersistentVolume':
      // When a volume that was reserved or held for the claim goes away, the claim may use any other volume.
      return (
        wantsVolume(interest, change.after) ||
        isReservedFor(interest, change.before) ||
        isNamed(interest, change.before)
      );
    case 'StorageClass':
      return change.after !== undefined && classMayHelp(interest, change.before, change.after);
    case 'Node':
      return change.after !== undefined && labelsDiffer(change.before, change.after);
    case 'CSINode':
      return wantsVolumes(interest) && driversMayHelp(interest, change.before, change.after);
    case 'CSIDriver':
      return requiresLess(interest, change.before, change.after);
    case 'CSIStorageCapacity':
      return gainingPools(change, index.pools).some((pool) => mayServe(interest, pool, index));
    case 'DriverCapacity':
      return driverPoolsMayHelp(interest, change, index.pools);
    case 'Drive':
      return driveMayHelp(interest, change, index);
    case 'StatefulSet':
      return interest.spreadGroups.size > 0 && changesOwner(interest, change);
    case 'Pod':
      return (
        (interest.spreadGroups.size > 0 && isAdopted(interest, change)) || endsNomination(interest, change)
      );
    default:
      return false;
  }
}

/** Changes that could make a cached answer wrong: those above, and those that remove something. */
export function volumesInvalidatedBy(
  interest: Interest,
  change: ClusterChange,
  index: ClusterIndex,
): boolean {
  if (volumesWokenBy({ ...interest, lacksSlots: true }, change, index)) return true;
  switch (change.kind) {
    case 'PersistentVolumeClaim':
      return (
        interest.claimKeys.has((change.after ?? change.before)!.key) ||
        (wantsVolumes(interest) && movesProvisioning(change))
      );
    case 'PersistentVolume':
      return [change.before, change.after].some(
        (volume) => volume !== undefined && concernsVolume(interest, volume),
      );
    case 'StorageClass':
      return interest.classes.has((change.after ?? change.before)!.key);
    case 'Node':
      return change.after === undefined;
    case 'CSINode':
      return wantsVolumes(interest) || interest.volumeNames.size > 0;
    case 'CSIDriver':
      return interest.drivers.has((change.after ?? change.before)!.key);
    case 'CSIStorageCapacity':
      return drawsOnEither(interest, change);
    case 'DriverCapacity':
      return changesPoolsOf(interest, change);
    case 'Drive':
      return changesDriveOf(interest, change);
    case 'StatefulSet':
      return interest.drivers.has(drivesDriver) && changesOwner(interest, change);
    default:
      return false;
  }
}

/** Whether some volumes of the pod are still to be chosen or provisioned, or have to be attached. */
function wantsVolumes(interest: Interest): boolean {
  return interest.classes.size + interest.drivers.size > 0;
}

type ClaimChange = ObjectChange<'PersistentVolumeClaim'>;

/** A claim that starts, stops, moves or resizes its provisioning takes or releases capacity. */
function movesProvisioning({ before, after }: ClaimChange): boolean {
  return provisioningKey(before) !== provisioningKey(after);
}

function provisioningKey(claim: ClaimRecord | undefined): string {
  return claim !== undefined && isBeingProvisioned(claim)
    ? `${claim.selectedNode} ${claim.request?.bytes} ${claim.uid}`
    : '';
}

function requiresLess(
  interest: Interest,
  before: DriverRecord | undefined,
  after: DriverRecord | undefined,
): boolean {
  if (before === undefined || !interest.drivers.has(before.key)) return false;
  return (
    (before.tracksCapacity && after?.tracksCapacity !== true) ||
    (before.refusesNodesWithoutIt && after?.refusesNodesWithoutIt !== true)
  );
}

/** The claims of a StatefulSet have no reference to it: its templates say which they are. Its status changes all the time. */
function changesOwner({ pod }: Interest, { before, after }: ObjectChange<'StatefulSet'>): boolean {
  if ((after ?? before)!.namespace !== pod.namespace) return false;
  return String(before?.claimTemplates ?? '') !== String(after?.claimTemplates ?? '');
}

/** The volumes of a pod are spread with those of its controller. */
function isAdopted({ pod }: Interest, { after }: ObjectChange<'Pod'>): boolean {
  return after !== undefined && after.key === pod.key && after.owner !== pod.owner;
}

/** A nominated pod holds bytes for its volumes. When it is placed, they may be in another pool than those that it held. */
function endsNomination(interest: Interest, { before, after }: ObjectChange<'Pod'>): boolean {
  if (
    before === undefined ||
    before.key === interest.pod.key ||
    before.claims.length + before.inlineVolumes.length === 0
  )
    return false;
  const isNominated = before.nodeName === '' && before.nominatedNode !== '';
  return isNominated && occupancyKey(before) !== occupancyKey(after) && wantsVolumes(interest);
}

function isNamed(interest: Interest, volume: VolumeRecord | undefined): boolean {
  return volume !== undefined && interest.volumeNames.has(volume.key);
}

function isReservedFor(interest: Interest, volume: VolumeRecord | undefined): boolean {
  return volume?.claim !== undefined && interest.claimKeys.has(volume.claim.claimKey);
}

function wantsVolume(interest: Interest, volume: VolumeRecord | undefined): boolean {
  if (volume === undefined) return false;
  if (interest.volumeNames.has(volume.key)) return true;
  if (volume.claim !== undefined) return interest.claimKeys.has(volume.claim.claimKey);
  const smallest = interest.classes.get(volume.className);
  return (
    smallest !== undefined &&
    volume.phase === 'Available' &&
    !volume.isDeleting &&
    volume.size.bytes >= smallest
  );
}

function concernsVolume(interest: Interest, volume: VolumeRecord): boolean {
  return (
    interest.volumeNames.has(volume.key) ||
    interest.classes.has(volume.className) ||
    isReservedFor(interest, volume)
  );
}

function classMayHelp(interest: Interest, before: ClassRecord | undefined, after: ClassRecord): boolean {
  if (!interest.classes.has(after.key)) return false;
  return (
    before === undefined ||
    before.allowedNodes.key !== after.allowedNodes.key ||
    before.provisioner !== after.provisioner ||
    JSON.stringify(before.driveClass) !== JSON.stringify(after.driveClass) ||
    policyKey(before.policy) !== policyKey(after.policy) ||
    before.hasInvalidDiskClass !== after.hasInvalidDiskClass ||
    before.isDelayed !== after.isDelayed ||
    before.hasBindingMode !== after.hasBindingMode
  );
}

function labelsDiffer(before: NodeRecord | undefined, after: NodeRecord): boolean {
  return before === undefined || !haveSameLabels(before, after);
}

type PoolChange = ObjectChange<'CSIStorageCapacity'>;

function drawsOnEither(interest: Interest, { before, after }: PoolChange): boolean {
  return [before, after].some((pool) => pool !== undefined && drawsOn(interest, pool));
}

/** The pool has a class that the pod wants, or shares its disks with pools that may have one. */
function drawsOn(interest: Interest, pool: PoolRecord): boolean {
  return interest.classes.has(pool.storageClass) || (pool.isShared && interest.classes.size > 0);
}

function isReleased(interest: Interest, change: ReleaseChange, index: ClusterIndex): boolean {
  const { refusedAtMs = Number.POSITIVE_INFINITY } = interest;
  // Publishers renew their Leases all the time: the pod was refused while the capacity reports were used.
  if (change.expiredAtMs !== undefined && refusedAtMs < change.expiredAtMs) return false;
  return (
    change.volumes.some((volume) => wantsVolume(interest, volume)) ||
    change.pools.some((pool) => mayServe(interest, pool, index)) ||
    // A pod has left a node, which frees the attach slots of its volumes.
    (change.nodeName !== '' && interest.drivers.size > 0)
  );
}
