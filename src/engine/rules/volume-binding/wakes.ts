import type { Change, ReleaseChange } from '../../index/change.ts';
import type { ClassRecord } from '../../records/class-record.ts';
import type { NodeRecord } from '../../records/node-record.ts';
import type { PoolRecord } from '../../records/pool-record.ts';
import type { VolumeRecord } from '../../records/volume-record.ts';
import type { Interest } from '../rule.ts';

/**
 * What could help a pod whose volumes found no place. Precise where kube-scheduler is not: a PV wakes only pods that want its
 * class and size or already name it, and a pool only pods of its class, when it has grown.
 */
export function volumesWokenBy(interest: Interest, change: Change): boolean {
  switch (change.kind) {
    case 'PersistentVolumeClaim':
      return change.after !== undefined && interest.claimKeys.has(change.after.key);
    case 'PersistentVolume':
      return change.after !== undefined && wantsVolume(interest, change.after);
    case 'StorageClass':
      return change.after !== undefined && classMayHelp(interest, change.before, change.after);
    case 'Node':
      return change.after !== undefined && labelsDiffer(change.before, change.after);
    case 'CSINode':
      // A driver may have come, a limit may have grown, an in-tree plugin may be served through CSI now.
      return change.after !== undefined && interest.drivers.size + interest.volumeNames.size > 0;
    case 'CSIDriver':
      // Tracking switched off: nobody is asked for room any more.
      return (
        change.before?.tracksCapacity === true &&
        change.after?.tracksCapacity !== true &&
        interest.drivers.has(change.before.key)
      );
    case 'CSIStorageCapacity':
      return (
        change.after !== undefined &&
        interest.classes.has(change.after.storageClass) &&
        hasGrown(change.before, change.after)
      );
    case 'DriverCapacity':
      return interest.drivers.has((change.after ?? change.before)!.key);
    case 'VolumeAttachment':
      return change.after === undefined && interest.drivers.has(change.before!.driver);
    case 'Pod':
      // It holds attach slots no more.
      return (
        change.before !== undefined &&
        change.before.claims.length > 0 &&
        (change.after === undefined || change.after.isFinished)
      );
    case 'Release':
      return isReleased(interest, change);
  }
}

/** What could make a remembered answer wrong: all of the above, and whatever takes something away. */
export function volumesInvalidatedBy(interest: Interest, change: Change): boolean {
  switch (change.kind) {
    case 'PersistentVolumeClaim':
      return interest.claimKeys.has((change.after ?? change.before)!.key);
    case 'PersistentVolume':
      return [change.before, change.after].some(
        (volume) => volume !== undefined && concernsVolume(interest, volume),
      );
    case 'StorageClass':
      return interest.classes.has((change.after ?? change.before)!.key);
    case 'Node':
      return change.after === undefined || labelsDiffer(change.before, change.after);
    case 'CSINode':
      return interest.drivers.size + interest.volumeNames.size > 0;
    case 'CSIDriver':
    case 'DriverCapacity':
      return interest.drivers.has((change.after ?? change.before)!.key);
    case 'CSIStorageCapacity':
      return interest.classes.has((change.after ?? change.before)!.storageClass);
    case 'VolumeAttachment':
      return interest.drivers.has((change.after ?? change.before)!.driver);
    case 'Pod':
      return (change.after ?? change.before)!.claims.length > 0;
    case 'Release':
      return isReleased(interest, change);
  }
}

function wantsVolume(interest: Interest, volume: VolumeRecord): boolean {
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
    (volume.claim !== undefined && interest.claimKeys.has(volume.claim.claimKey))
  );
}

function classMayHelp(interest: Interest, before: ClassRecord | undefined, after: ClassRecord): boolean {
  if (!interest.classes.has(after.key)) return false;
  return (
    before === undefined ||
    before.allowedNodes.key !== after.allowedNodes.key ||
    before.canProvision !== after.canProvision ||
    before.isDelayed !== after.isDelayed
  );
}

function labelsDiffer(before: NodeRecord | undefined, after: NodeRecord): boolean {
  if (before === undefined) return true;
  const keys = Object.keys(after.labels);
  return (
    keys.length !== Object.keys(before.labels).length ||
    keys.some((key) => before.labels[key] !== after.labels[key])
  );
}

/** Compared as doubles: where those tie, waking in vain is harmless. */
function hasGrown(before: PoolRecord | undefined, after: PoolRecord): boolean {
  if (
    before === undefined ||
    before.nodes.key !== after.nodes.key ||
    before.storageClass !== after.storageClass
  )
    return true;
  return (
    bytesOf(after.largest ?? after.free) > bytesOf(before.largest ?? before.free) ||
    bytesOf(after.free) > bytesOf(before.free)
  );
}

function bytesOf(size: { readonly bytes: number } | undefined): number {
  return size?.bytes ?? -1;
}

function isReleased(interest: Interest, change: ReleaseChange): boolean {
  return (
    change.volumes.some((volume) => wantsVolume(interest, volume)) ||
    change.pools.some(
      (pool) =>
        interest.classes.has(pool.storageClass) ||
        (pool.driver !== undefined && interest.drivers.has(pool.driver)),
    ) ||
    interest.drivers.size > 0
  );
}
