import type { KubeObject } from '../../kube/api/meta.ts';
import { getCondition } from '../../kube/conditions.ts';
import type { DiskSchedule } from '../../kube/stowage/disk-schedule.ts';
import type { DiskCapacitySettings } from '../../kube/stowage/disk-settings.ts';
import { forceRemovalKey, type StorageNode } from '../../kube/stowage/storage-node.ts';
import { diskRemovedReason } from './disk-conditions.ts';
import { type DiskIdentity, type DiskState, diskState } from './disk-state.ts';

/**
 * The state of the disk of a schedule. Beside what its StorageNode reports, it depends on the schedule: one that is being deleted takes no new
 * requests. A disk that does not answer counts as removed if a user forces its removal, or if it was found removed before.
 */
export function scheduleState(
  schedule: DiskSchedule,
  node: StorageNode | undefined,
  settings?: DiskCapacitySettings,
): DiskState {
  const state = diskState(node, scheduleIdentity(schedule), settings);
  if (state.kind === 'ready') {
    if (schedule.metadata?.deletionTimestamp === undefined) return state;
    return { ...state, closed: { reason: 'DiskRemoved', message: 'the DiskSchedule is being deleted' } };
  }
  if (isForced(schedule) || isForced(node)) return removedDisk(state.message, 'its removal is forced');
  const before = getCondition(schedule.status?.conditions, 'Ready');
  if (before?.status === 'False' && before.reason === diskRemovedReason)
    return { kind: 'unknown', message: before.message ?? state.message, isRemoved: true };
  return state;
}

/** The state of an abandoned disk. */
export function removedDisk(message: string, why: string): DiskState {
  return { kind: 'unknown', message: `${message}; ${why}`, isRemoved: true };
}

export function scheduleIdentity({ metadata, spec }: DiskSchedule): DiskIdentity {
  return { uuid: metadata?.name ?? '', name: spec?.name ?? '', nodeName: spec?.nodeID ?? '' };
}

function isForced(object: KubeObject | undefined): boolean {
  return object?.metadata?.annotations?.[forceRemovalKey] === 'true';
}
