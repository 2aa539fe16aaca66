import type { Condition, Timestamp } from '../../../kube/api/meta.ts';
import { setCondition } from '../../../kube/conditions.ts';
import type { DiskVolume, DiskVolumeStatus } from '../../../kube/stowage/volume.ts';
import { exactBytesText } from '../exact-bytes.ts';
import { volumeRobustness } from './volume-health.ts';
import type { AllocationState, DiskVolumePlan, VolumeView } from './volume-model.ts';

/**
 * The status after a plan: the size that every replica has, how many are healthy, the expansion, the refused one, and the condition `DiskAllocation`. Other
 * fields stay.
 */
export function volumeStatus(
  { metadata, status }: DiskVolume,
  { plan, view }: { readonly plan: DiskVolumePlan; readonly view: VolumeView },
  now: Timestamp,
): DiskVolumeStatus {
  const { currentBytes, expansion, allocation, refusedExpansion } = plan;
  const { size: _size, refusedExpansion: before, faultedAt: _faultedAt, ...rest } = status ?? {};
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
    ...healthStatus(status, view, now),
    observedGeneration: Number(metadata?.generation ?? 0),
    ...(currentBytes !== undefined && { size: currentBytes }),
    ...(expansion !== undefined && { expansion: { size: expansion.bytes, state: expansion.state } }),
    ...(refusedExpansion !== undefined && { refusedExpansion: refused }),
    conditions: setCondition(status?.conditions, conditionOf(allocation), now),
  };
}

/** The time of the fault stays until a replica is healthy: a user who accepts the loss of the data names it. */
function healthStatus(
  before: DiskVolumeStatus | undefined,
  { replicas, numberOfReplicas: wanted, hadData }: VolumeView,
  now: Timestamp,
): Pick<DiskVolumeStatus, 'state' | 'robustness' | 'faultedAt'> {
  const healths = replicas.map(({ health }) => health);
  const robustness = volumeRobustness(healths, { wanted, hadData });
  const { state = 'creating', faultedAt = robustness === 'faulted' ? now : undefined } = before ?? {};
  const isCreated = robustness !== 'unknown';
  return {
    // Another program may have attached it.
    state: state === 'creating' && isCreated ? 'detached' : state,
    robustness,
    ...(faultedAt !== undefined && (!isCreated || robustness === 'faulted') && { faultedAt }),
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
    case 'data-lost':
      return { type, status: 'False', reason: 'DataLost', message: allocation.message };
    case 'expansion-refused':
      return { type, status: 'False', reason: 'ExpansionRejected', message: allocation.message };
  }
}
