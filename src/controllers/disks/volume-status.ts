import { exactBytesText } from '../../engine/disks/exact-bytes.ts';
import type { AllocationState, DiskVolumePlan } from '../../engine/disks/volume-model.ts';
import type { Condition, Timestamp } from '../../kube/api/meta.ts';
import { setCondition } from '../../kube/conditions.ts';
import type { DiskVolume, DiskVolumeStatus } from '../../kube/disks/volume.ts';

/** The status after a plan: the size that every replica has, the expansion, the refused one, and the condition `DiskAllocation`. Other fields stay. */
export function volumeStatus(
  { metadata, status }: DiskVolume,
  { currentBytes, expansion, allocation, refusedExpansion }: DiskVolumePlan,
  now: Timestamp,
): DiskVolumeStatus {
  const { size: _size, refusedExpansion: before, ...rest } = status ?? {};
  const { bytes, diskUUID, message = '' } = refusedExpansion ?? {};
  const isSame = before?.size === bytes && before?.message === message;
  const refused = {
    size: bytes ?? 0,
    diskID: diskUUID ?? '',
    message,
    time: isSame ? (before?.time ?? now) : now,
  };
  return {
    ...rest,
    observedGeneration: Number(metadata?.generation ?? 0),
    ...(currentBytes !== undefined && { size: currentBytes }),
    ...(expansion !== undefined && { expansion: { size: expansion.bytes, state: expansion.state } }),
    ...(refusedExpansion !== undefined && { refusedExpansion: refused }),
    conditions: setCondition(status?.conditions, conditionOf(allocation), now),
  };
}

function conditionOf(allocation: AllocationState): Condition {
  const type = 'DiskAllocation';
  switch (allocation.kind) {
    case 'allocated': {
      const message = `Every replica has been granted ${exactBytesText(allocation.bytes)}`;
      return { type, status: 'True', reason: 'Scheduled', message };
    }
    case 'waiting-for-verdict':
      return {
        type,
        status: 'False',
        reason: 'Pending',
        message: 'Disks have not answered every request yet',
      };
    case 'waiting-for-disk':
      return { type, status: 'False', reason: 'InsufficientStorage', message: allocation.message };
    case 'disk-removed':
      return { type, status: 'False', reason: 'DiskRemoved', message: allocation.message };
    case 'expansion-refused':
      return { type, status: 'False', reason: 'ExpansionRejected', message: allocation.message };
  }
}
