import { csiDriverForProvisioner } from '../../../kube/legacy/in-tree-migration.ts';
import type { ClusterChange } from '../../cluster-index/cluster-change.ts';
import type { ClaimRecord } from '../../records/claim-record.ts';
import type { ClassRecord } from '../../records/class-record.ts';
import type { NodeDriversRecord } from '../../records/driver-record.ts';
import type { PodRecord } from '../../records/pod-record.ts';
import type { CsiVolume, VolumeRecord } from '../../records/volume-record.ts';
import type { Interest } from '../framework/rule.ts';

/** Whether a CSINode that came, changed or went could let the pod's volumes onto its node. */
export function driversMayHelp(
  interest: Interest,
  before: NodeDriversRecord | undefined,
  after: NodeDriversRecord | undefined,
): boolean {
  // Without a CSINode nothing is limited and nothing is served through CSI.
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

/** On a node, finished or not, or about to be. */
function hasPlace({ nodeName, nominatedNode }: PodRecord): boolean {
  return nodeName !== '' || nominatedNode !== '';
}

/**
 * What can change which volumes are attached where. A pod that lacks slots looks again at all of it: a volume that goes leaves a
 * slot, and one that comes may be its own, which then costs nothing.
 */
export function attachmentsDiffer(interest: Interest, change: ClusterChange): boolean {
  switch (change.kind) {
    case 'VolumeAttachment':
      return true;
    case 'Pod':
      return [change.before, change.after].some(
        (pod) => pod !== undefined && pod.key !== interest.pod.key && hasPlace(pod) && attachesVolumes(pod),
      );
    case 'PersistentVolumeClaim':
      return volumeOf(change.before) !== volumeOf(change.after);
    case 'PersistentVolume':
      // A claim that names a missing volume counts as one that is yet to be made.
      return (
        change.before === undefined ||
        change.after === undefined ||
        attachDiffers(change.before, change.after)
      );
    case 'StorageClass':
      // Volumes that are not made yet count for their class's provisioner.
      return (
        change.before?.provisioner !== change.after?.provisioner &&
        [change.before, change.after].some((storageClass) => makesFor(interest, storageClass))
      );
    default:
      return false;
  }
}

function makesFor(interest: Interest, storageClass: ClassRecord | undefined): boolean {
  if (storageClass === undefined) return false;
  const migratedTo = csiDriverForProvisioner(storageClass.provisioner);
  return (
    interest.drivers.has(storageClass.provisioner) ||
    (migratedTo !== undefined && interest.drivers.has(migratedTo))
  );
}

/** What a claim is counted as: its volume, or one that its class has yet to make. */
function volumeOf(claim: ClaimRecord | undefined): string {
  return claim === undefined ? '' : `${claim.volumeName} ${claim.className} ${claim.uid}`;
}

/** Under another handle, or for another claim: one that somebody else has got is not the reservation's any more. */
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
