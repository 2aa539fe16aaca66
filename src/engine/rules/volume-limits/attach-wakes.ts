import { csiDriverForProvisioner } from '../../../kube/legacy/in-tree-migration.ts';
import type { ClusterChange } from '../../cluster-index/cluster-change.ts';
import type { ClaimRecord } from '../../records/claim-record.ts';
import type { ClassRecord } from '../../records/class-record.ts';
import type { NodeDriversRecord } from '../../records/driver-record.ts';
import type { PodRecord } from '../../records/pod-record.ts';
import type { CsiVolume, VolumeRecord } from '../../records/volume-record.ts';
import type { Interest } from '../framework/rule.ts';

/** Whether a created, changed or deleted CSINode could make its node accept the pod's volumes. */
export function driversMayHelp(
  interest: Interest,
  before: NodeDriversRecord | undefined,
  after: NodeDriversRecord | undefined,
): boolean {
  // Without a CSINode there are no limits, and no in-tree volume is served through CSI.
  if (before === undefined || after === undefined) return true;
  if (!haveSameItems(before.migratedPlugins, after.migratedPlugins)) return true;
  for (const driver of interest.drivers) {
    if (after.limits.has(driver) && !before.limits.has(driver)) return true;
    if (limitOf(after, driver) > limitOf(before, driver)) return true;
  }
  return false;
}

function attachesVolumes(pod: PodRecord): boolean {
  return pod.claims.length + pod.migratedVolumes.length > 0;
}

/** Has a node, finished or not, or is nominated to one. */
function hasNodeOrNomination({ nodeName, nominatedNode }: PodRecord): boolean {
  return nodeName !== '' || nominatedNode !== '';
}

/**
 * Whether the change can affect which volumes are attached where. A pod that lacks slots has to check all of it: a detached volume leaves
 * a slot, and a newly attached volume may be its own, which then needs no slot.
 */
export function attachmentsDiffer(interest: Interest, change: ClusterChange): boolean {
  switch (change.kind) {
    case 'VolumeAttachment':
      return true;
    case 'Pod':
      return [change.before, change.after].some(
        (pod) =>
          pod !== undefined &&
          pod.key !== interest.pod.key &&
          hasNodeOrNomination(pod) &&
          attachesVolumes(pod),
      );
    case 'PersistentVolumeClaim':
      return volumeOf(change.before) !== volumeOf(change.after);
    case 'PersistentVolume':
      // A claim that names a missing volume counts as one that is still to be provisioned.
      return (
        change.before === undefined ||
        change.after === undefined ||
        attachDiffers(change.before, change.after)
      );
    case 'StorageClass':
      // Volumes that are not provisioned yet count for their class's provisioner.
      return (
        change.before?.provisioner !== change.after?.provisioner &&
        [change.before, change.after].some((storageClass) => providesFor(interest, storageClass))
      );
    default:
      return false;
  }
}

function providesFor(interest: Interest, storageClass: ClassRecord | undefined): boolean {
  if (storageClass === undefined) return false;
  const migratedTo = csiDriverForProvisioner(storageClass.provisioner);
  return (
    interest.drivers.has(storageClass.provisioner) ||
    (migratedTo !== undefined && interest.drivers.has(migratedTo))
  );
}

/** Identifies the volume that a claim counts as: its own one, or one that its class has yet to provision. */
function volumeOf(claim: ClaimRecord | undefined): string {
  return claim === undefined ? '' : `${claim.volumeName} ${claim.className} ${claim.uid}`;
}

/** Another handle, or another claim: a volume that another claim has got no longer belongs to the reservation. */
function attachDiffers(before: VolumeRecord, after: VolumeRecord): boolean {
  return (
    handleOf(before.csi) !== handleOf(after.csi) ||
    handleOf(before.migrated) !== handleOf(after.migrated) ||
    before.claim?.claimKey !== after.claim?.claimKey
  );
}

function handleOf(volume: CsiVolume | undefined): string {
  return volume === undefined ? '' : `${volume.driver} ${volume.handle}`;
}

function limitOf(record: NodeDriversRecord, driver: string): number {
  return record.limits.get(driver) ?? Number.POSITIVE_INFINITY;
}

function haveSameItems(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((item) => b.has(item));
}
