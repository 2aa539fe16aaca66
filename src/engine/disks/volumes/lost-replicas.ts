import type { DiskCandidate } from '../choose-disk.ts';
import {
  answerOf,
  type DiskVolumePlan,
  isHealthy,
  type ReplicaView,
  unfinishedPlan,
  type VolumeStep,
  type VolumeView,
} from './volume-model.ts';

/**
 * Whether the replica is lost with its disk: the disk was abandoned, or is unknown after the replica had failed. A replica that has
 * no data and was never started is not lost: it is placed again.
 */
export function isLost(replica: ReplicaView, disk: DiskCandidate | undefined): boolean {
  const { place, entry, isRunningDesired, hasData, health } = replica;
  if (place === undefined || !(isRunningDesired || hasData)) return false;
  if (disk?.state.kind === 'unknown' && disk.state.isRemoved === true) return true;
  if (entry === undefined) return health === 'failed';
  const { state, reason, scheduledSize = 0 } = answerOf(entry) ?? {};
  return state === 'rejected' && reason === 'DiskRemoved' && scheduledSize === 0;
}

/**
 * Plans the steps for lost replicas: they fail, release their request, and are deleted if another replica has the data. The last one that had the data stays,
 * and nothing takes its place: an empty volume must not look like one that has its data. Undefined if there are no lost replicas.
 */
export function planLost(
  view: VolumeView,
  lost: readonly ReplicaView[],
  others: readonly ReplicaView[],
): DiskVolumePlan | undefined {
  if (lost.length === 0) return undefined;
  const isReplaceable = others.some(isHealthy);
  const steps = lost.flatMap((replica) => stepsOf(replica, isReplaceable || !replica.hasData));
  const plan = unfinishedPlan(view, steps);
  const last = isReplaceable ? undefined : lost.find(({ hasData }) => hasData);
  if (last === undefined) return plan;
  const { name, place } = last;
  const remedy = `bring the disk back, or give the data up and begin with empty replicas: ${view.acceptCommand}`;
  const message = `replica ${name}: its disk ${place?.uuid} was removed, and no other replica is healthy; ${remedy}`;
  return { ...plan, allocation: { kind: 'disk-removed', message } };
}

/**
 * No replica has the data that the volume had: all of them were deleted. Nothing is created in their place, because empty replicas would be called healthy. A
 * user decides. Undefined if a replica has data, or there never was any.
 */
export function planDataLost(view: VolumeView, present: readonly ReplicaView[]): DiskVolumePlan | undefined {
  if (!view.hadData || present.some(({ hasData }) => hasData)) return undefined;
  const message = `the volume had data, and no replica has it any more; restore it, or give it up and begin with empty replicas: ${view.acceptCommand}`;
  return { ...unfinishedPlan(view, []), allocation: { kind: 'data-lost', message } };
}

/** A user has accepted the loss of a volume without a healthy replica: deletes its replicas, and creates empty ones. */
export function planAcceptedLoss(
  view: VolumeView,
  present: readonly ReplicaView[],
): DiskVolumePlan | undefined {
  const left = present.filter(({ hasData }) => hasData);
  if (!view.isLossAccepted || left.length === 0 || present.some(isHealthy)) return undefined;
  return unfinishedPlan(
    view,
    left.map(({ name }) => ({ kind: 'delete', replica: name, isLossAccepted: true })),
  );
}

function stepsOf({ name, place, entry, hasData, health }: ReplicaView, goes: boolean): readonly VolumeStep[] {
  const diskUUID = place?.uuid ?? '';
  const message = `its disk ${diskUUID} on node ${place?.nodeName} was removed`;
  return [
    ...(hasData && health !== 'failed' ? [{ kind: 'fail', replica: name, message } as const] : []),
    ...(entry?.askedBytes === undefined ? [] : [{ kind: 'withdraw', replica: name, diskUUID } as const]),
    ...(goes ? [{ kind: 'delete', replica: name } as const] : []),
  ];
}
