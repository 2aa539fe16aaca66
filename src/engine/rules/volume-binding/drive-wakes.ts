import { drivesDriver } from '../../../kube/stowage/drive.ts';
import type { ObjectChange } from '../../cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import { hasNewCapacityReport } from '../../cluster-index/pool-changes.ts';
import { publishedLimit } from '../../cluster-index/pools/published-capacity-reports.ts';
import { isOfKind } from '../../drives/drive-requirements.ts';
import type { PoolRecord } from '../../records/pool-record.ts';
import { compareSizes } from '../../size.ts';
import type { Interest } from '../framework/rule.ts';

type DriveChange = ObjectChange<'Drive'>;

/**
 * Whether the change of a Drive could help the pod: the drive is of a kind that a class or inline volume of the pod accepts, has the bytes for its
 * smallest volume, and is new, has more free bytes, takes volumes again, has another tier or labels, is reached from other nodes, or no longer
 * has a volume of the same owner.
 */
export function driveMayHelp(interest: Interest, change: DriveChange, index: ClusterIndex): boolean {
  const { before, after } = change;
  if (!interest.drivers.has(drivesDriver)) return false;
  if (after === undefined)
    return ownedNext(before, index).some((next) =>
      driveMayHelp(interest, { ...change, before: undefined, after: next }, index),
    );
  if (before !== undefined && !isGain(before, after) && !losesGroup(interest, before, after)) return false;
  return driveMayServe(interest, after, index);
}

/** Whether the drive is of a kind that a class or inline volume of the pod accepts, and has the bytes for the smallest of these volumes. */
export function driveMayServe(interest: Interest, pool: PoolRecord, index: ClusterIndex): boolean {
  const limitBytes = publishedLimit(pool)?.bytes ?? -1;
  for (const { drive, size } of interest.pod.inlineVolumes)
    if (drive !== undefined && limitBytes >= (size?.bytes ?? 0) && isOfKind(pool.drive!, drive)) return true;
  for (const [className, smallest] of interest.classes) {
    const driveClass = index.classes.get(className)?.driveClass;
    if (driveClass !== undefined && limitBytes >= smallest && isOfKind(pool.drive!, driveClass)) return true;
  }
  return false;
}

/** The Drives that named the same filesystem as one that no longer exists: it belongs to one of them now. */
function ownedNext(gone: PoolRecord | undefined, index: ClusterIndex): readonly PoolRecord[] {
  return index.pools.drivesOnFilesystem(gone?.drive?.user.filesystem ?? '');
}

/** Whether an answer for the pod may rely on what changed. Nodes update the status of their drives all the time. */
export function changesDriveOf(interest: Interest, { before, after }: DriveChange): boolean {
  if (!interest.drivers.has(drivesDriver)) return false;
  if (before === undefined || after === undefined) return true;
  return (
    isElsewhere(before, after) ||
    hasNewCapacityReport({ before, after }) ||
    before.drive!.capacityBytes !== after.drive!.capacityBytes ||
    changesGroup(interest, before, after)
  );
}

function isGain(before: PoolRecord, after: PoolRecord): boolean {
  if (isElsewhere(before, after)) return true;
  if (after.free === undefined) return false;
  if (before.free === undefined || compareSizes(after.free, before.free) > 0) return true;
  // The growth reserve is a part of the capacity: a smaller one may leave more bytes for new volumes.
  return after.drive!.capacityBytes < before.drive!.capacityBytes;
}

function losesGroup({ spreadGroups }: Interest, before: PoolRecord, after: PoolRecord): boolean {
  for (const group of spreadGroups)
    if (before.drive!.groups.has(group) && !after.drive!.groups.has(group)) return true;
  return false;
}

function changesGroup(interest: Interest, before: PoolRecord, after: PoolRecord): boolean {
  return losesGroup(interest, before, after) || losesGroup(interest, after, before);
}

function isElsewhere(before: PoolRecord, after: PoolRecord): boolean {
  return before.nodes.key !== after.nodes.key || before.drive!.kindKey !== after.drive!.kindKey;
}
