import type { DiskCandidate } from '../choose-disk.ts';
import { withReplaced } from './broken-replicas.ts';
import { expandVolume } from './expand-volume.ts';
import { isLost, planAcceptedLoss, planDataLost, planLost } from './lost-replicas.ts';
import { placeReplicas } from './place-replicas.ts';
import { removableReplicas } from './removable-replicas.ts';
import {
  type DiskVolumePlan,
  grantedTo,
  isHealthy,
  type ReplicaView,
  unfinishedPlan,
  type VolumeStep,
  type VolumeView,
} from './volume-model.ts';

/** The next writes of a volume. Pure: the same view gives the same plan, so that two instances do the same. */
export function planVolume(view: VolumeView, disks: readonly DiskCandidate[]): DiskVolumePlan {
  const diskOf = ({ place }: ReplicaView) => disks.find(({ uuid }) => uuid === place?.uuid);
  const present = view.replicas.filter(({ isDeleting }) => !isDeleting);
  const lost = present.filter((replica) => isLost(replica, diskOf(replica)));
  const replicas = present.filter((replica) => !lost.includes(replica));
  const plan =
    planAcceptedLoss(view, present) ??
    planLost(view, lost, replicas) ??
    planDataLost(view, present) ??
    planPresent(view, replicas, disks);
  return { ...plan, steps: [...follow(replicas), ...keep(present, plan.steps), ...plan.steps] };
}

function planPresent(
  view: VolumeView,
  replicas: readonly ReplicaView[],
  disks: readonly DiskCandidate[],
): DiskVolumePlan {
  const tooLarge = oversized(view, replicas);
  if (tooLarge.length > 0) return unfinishedPlan(view, tooLarge);
  const bytes = committedBytes(view, replicas);
  const counting = withReplaced(view, replicas, bytes, disks);
  const counted = countSteps(view, counting, bytes);
  if (counted.length > 0) return unfinishedPlan(view, counted);
  return placeReplicas(view, counting, bytes, disks) ?? expandVolume(view, replicas, bytes, disks);
}

/** A replica names the node that its disk is in now. */
function follow(replicas: readonly ReplicaView[]): readonly VolumeStep[] {
  return replicas.flatMap(({ name, nodeName, place }) =>
    place === undefined || place.nodeName === nodeName
      ? []
      : [{ kind: 'follow', replica: name, nodeName: place.nodeName } as const],
  );
}

/** A mark that stays would keep other replicas from being removed: a marked one does not count as another healthy replica. */
function keep(replicas: readonly ReplicaView[], steps: readonly VolumeStep[]): readonly VolumeStep[] {
  const removed = new Set(steps.flatMap((step) => (step.kind === 'delete' ? [step.replica] : [])));
  return replicas
    .filter(({ name, isMarkedForRemoval }) => isMarkedForRemoval && !removed.has(name))
    .map(({ name }) => ({ kind: 'keep', replica: name }));
}

/** Replicas can't shrink: if a volume becomes smaller before any of them had data, other ones take their place. */
function oversized(
  { currentBytes, wantedBytes }: VolumeView,
  replicas: readonly ReplicaView[],
): readonly VolumeStep[] {
  if (currentBytes !== undefined || replicas.some(({ hasData }) => hasData)) return [];
  return replicas
    .filter(({ sizeBytes }) => sizeBytes > wantedBytes)
    .map(({ name }) => ({ kind: 'delete', replica: name }));
}

/** The bytes that each replica has or should have. An expansion counts once it is committed, because it is then completed. */
function committedBytes(
  { currentBytes, wantedBytes, expansion }: VolumeView,
  replicas: readonly ReplicaView[],
): number {
  const committed = expansion?.state === 'Committed' ? expansion.bytes : 0;
  return Math.max(currentBytes ?? 0, committed, ...replicas.map(({ sizeBytes }) => sizeBytes)) || wantedBytes;
}

function countSteps(
  view: VolumeView,
  replicas: readonly ReplicaView[],
  bytes: number,
): readonly VolumeStep[] {
  const staying = replicas.filter(({ place }) => place?.isEvicted !== true);
  const missing = view.numberOfReplicas - staying.length;
  if (missing > 0) return newNames(view, missing).map((replica) => ({ kind: 'create', replica, bytes }));
  const removed = missing < 0 ? removableReplicas(staying, replicas, -missing) : evicted(replicas, staying);
  return removed.map(({ name }) => ({ kind: 'delete', replica: name }));
}

/** Names are fixed by the volume, so that two instances that create replicas at the same time create the same ones. */
function newNames({ name, replicas }: VolumeView, count: number): readonly string[] {
  const taken = new Set(replicas.map((replica) => replica.name));
  const names: string[] = [];
  for (let at = 0; names.length < count; at += 1)
    if (!taken.has(`${name}-r${at}`)) names.push(`${name}-r${at}`);
  return names;
}

/** An evicted replica is deleted when enough others have the data, or at least the bytes if it has no data. */
function evicted(replicas: readonly ReplicaView[], staying: readonly ReplicaView[]): readonly ReplicaView[] {
  const leaving = replicas.filter(({ place }) => place?.isEvicted === true);
  return leaving.filter(({ hasData }) =>
    staying.every((other) => (hasData ? isHealthy(other) : grantedTo(other) > 0)),
  );
}
