import { ownValue } from '../../kube/go/json-value.ts';
import type { DiskSchedule, DiskVerdict } from '../../kube/stowage/disk-schedule.ts';
import type { DiskCapacitySettings } from '../../kube/stowage/disk-settings.ts';
import type { StorageNode } from '../../kube/stowage/storage-node.ts';
import type { DiskCandidate } from './choose-disk.ts';
import { scheduleIdentity, scheduleState } from './schedule-state.ts';

/** A disk with the sums of its schedule; `node` is the StorageNode that the schedule names, `settings` are those of all disks. */
export function readDiskCandidate(
  schedule: DiskSchedule,
  node: StorageNode | undefined,
  settings?: DiskCapacitySettings,
): DiskCandidate {
  const { spec, status } = schedule;
  const { uuid, name, nodeName } = scheduleIdentity(schedule);
  const sums = [sumsOf(spec?.replicas, status?.replicas), sumsOf(spec?.backingImages, status?.backingImages)];
  return {
    uuid,
    name,
    nodeName,
    zone: node?.status?.zone ?? '',
    nodeTags: node?.spec?.tags ?? [],
    diskTags: ownValue(node?.spec?.disks, name)?.tags ?? [],
    state: scheduleState(schedule, node, settings),
    demandBytes: sums.reduce((sum, { demand }) => sum + demand, 0),
    grantedBytes: sums.reduce((sum, { granted }) => sum + granted, 0),
    ...answeredLimit(schedule),
    entryCount: Object.keys(spec?.replicas ?? {}).length + Object.keys(spec?.backingImages ?? {}).length,
  };
}

function answeredLimit({ metadata, status }: DiskSchedule): Pick<DiskCandidate, 'answeredLimitBytes'> {
  const { observedGeneration, storageLimit } = status ?? {};
  const isAnswered = observedGeneration === Number(metadata?.generation ?? 0);
  return isAnswered && storageLimit !== undefined ? { answeredLimitBytes: storageLimit } : {};
}

function sumsOf(
  asked: Readonly<Record<string, number>> = {},
  verdicts: Readonly<Record<string, DiskVerdict>> = {},
): { readonly demand: number; readonly granted: number } {
  let [demand, granted] = [0, 0];
  for (const [name, bytes] of Object.entries(asked)) demand += requestDemand(bytes, ownValue(verdicts, name));
  for (const [name, { scheduledSize = 0 }] of Object.entries(verdicts)) {
    granted += scheduledSize;
    if (!Object.hasOwn(asked, name)) demand += scheduledSize;
  }
  return { demand, granted };
}

/** The bytes that a request keeps from other requests. A large one that was rejected keeps none from smaller ones. */
export function requestDemand(bytes: number, verdict: DiskVerdict | undefined): number {
  const { state, observedSize, scheduledSize = 0 } = verdict ?? {};
  const isRejected = state === 'rejected' && observedSize === bytes;
  return isRejected ? scheduledSize : Math.max(bytes, scheduledSize);
}
