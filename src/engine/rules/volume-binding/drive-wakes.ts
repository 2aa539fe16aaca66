import { drivesDriver } from '../../../kube/drive.ts';
import type { ObjectChange } from '../../cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import { hasNewFigure } from '../../cluster-index/pool-changes.ts';
import { publishedLimit } from '../../cluster-index/pools/pool-table.ts';
import { isOfKind } from '../../drives/drive-ask.ts';
import type { PoolRecord } from '../../records/pool-record.ts';
import { compareSizes } from '../../size.ts';
import type { Interest } from '../framework/rule.ts';

type DriveChange = ObjectChange<'Drive'>;

/**
 * Whether the change of a Drive could help the pod: the drive is of a kind that a class of the pod accepts, has the bytes for its smallest volume,
 * and is new, has more free bytes, takes volumes again, has another tier or labels, or is reached from other nodes.
 */
export function driveMayHelp(
  interest: Interest,
  { before, after }: DriveChange,
  index: ClusterIndex,
): boolean {
  if (after === undefined || !interest.drivers.has(drivesDriver)) return false;
  if (before !== undefined && !isGain(before, after)) return false;
  const limitBytes = publishedLimit(after)?.bytes ?? -1;
  for (const [className, smallest] of interest.classes) {
    const driveClass = index.classes.get(className)?.driveClass;
    if (driveClass !== undefined && limitBytes >= smallest && isOfKind(after.drive!, driveClass)) return true;
  }
  return false;
}

/** Whether an answer for the pod may rely on what changed. Nodes update the status of their drives all the time. */
export function changesDriveOf(interest: Interest, { before, after }: DriveChange): boolean {
  if (!interest.drivers.has(drivesDriver)) return false;
  if (before === undefined || after === undefined) return true;
  return isElsewhere(before, after) || hasNewFigure({ before, after });
}

function isGain(before: PoolRecord, after: PoolRecord): boolean {
  if (isElsewhere(before, after)) return true;
  if (after.free === undefined) return false;
  return before.free === undefined || compareSizes(after.free, before.free) > 0;
}

function isElsewhere(before: PoolRecord, after: PoolRecord): boolean {
  return before.nodes.key !== after.nodes.key || before.drive!.kindKey !== after.drive!.kindKey;
}
