import type { Condition } from '../../kube/api/meta.ts';
import type { DiskDecision } from './decide-disk.ts';
import type { DiskIdentity, DiskState } from './disk-state.ts';
import { bareBytesText, exactBytesText } from './exact-bytes.ts';

/** The conditions of a DiskSchedule after a pass: whether the disk answers, and whether it takes new requests. */
export function diskConditions(
  disk: DiskState,
  { storageScheduled }: Pick<DiskDecision, 'storageScheduled'>,
  identity: DiskIdentity,
): readonly Condition[] {
  return [readyCondition(disk, identity), schedulableCondition(disk, storageScheduled, identity)];
}

/** The reason of the condition `Ready` on an abandoned disk; it stays until the disk answers again. */
export const diskRemovedReason = 'DiskRemoved';

/** The reason of the condition `Schedulable` if the limit has fallen below what is scheduled. */
export const overCommittedReason = 'OverCommitted';

function unknownReason({ isRemoved }: Extract<DiskState, { kind: 'unknown' }>): string {
  return isRemoved === true ? diskRemovedReason : 'DiskNotReady';
}

function readyCondition(disk: DiskState, { name, nodeName }: DiskIdentity): Condition {
  if (disk.kind === 'unknown')
    return { type: 'Ready', status: 'False', reason: unknownReason(disk), message: disk.message };
  const message = `Disk ${name} on node ${nodeName} is ready`;
  return { type: 'Ready', status: 'True', reason: 'DiskReady', message };
}

function schedulableCondition(
  disk: DiskState,
  storageScheduled: number,
  { name, nodeName }: DiskIdentity,
): Condition {
  const no = { type: 'Schedulable', status: 'False' } as const;
  if (disk.kind === 'unknown') {
    const effect = disk.isRemoved === true ? 'every request is rejected' : 'no verdict is given';
    return { ...no, reason: unknownReason(disk), message: `${effect}: ${disk.message}` };
  }
  const over = storageScheduled - disk.limitBytes;
  if (over > 0) {
    const figures = `${exactBytesText(storageScheduled)} are scheduled and the limit is ${bareBytesText(disk.limitBytes)}`;
    const message = `${figures}: ${bareBytesText(over)} too many; what is scheduled stays, and nothing else is granted`;
    return { ...no, reason: overCommittedReason, message };
  }
  if (disk.closed !== undefined) return { ...no, ...disk.closed };
  const message = `Disk ${name} is ready for scheduling on node ${nodeName}`;
  return { type: 'Schedulable', status: 'True', reason: 'DiskReady', message };
}
