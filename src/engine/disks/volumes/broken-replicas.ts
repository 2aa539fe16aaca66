import type { DiskCandidate } from '../choose-disk.ts';
import { canPlaceMore } from './place-replicas.ts';
import { isHealthy, type ReplicaView, type VolumeView } from './volume-model.ts';

/** A replica that has failed, or can't be reached, for this time is replaced: disks and nodes often come back sooner. */
export const replaceAfterMs = 5 * 60_000;

/**
 * The replicas, of which those to be replaced leave as if they were evicted: others are placed first, and a replica with data is removed only when all
 * others are healthy. Nothing is replaced while no replica is healthy, because the data could not be copied, and only as many as disks have room for. A
 * replica that becomes healthy again meanwhile stays, and the one that has the least is removed.
 */
export function withReplaced(
  view: VolumeView,
  replicas: readonly ReplicaView[],
  bytes: number,
  disks: readonly DiskCandidate[],
): readonly ReplicaView[] {
  const broken = replicas.some(isHealthy) ? replicas.filter(isBrokenForLong) : [];
  for (let count = broken.length; count > 0; count -= 1) {
    const leaving = new Set(broken.slice(0, count));
    const next = replicas.map((replica) => (leaving.has(replica) ? evicted(replica) : replica));
    const staying = next.filter(({ place }) => place?.isEvicted !== true).length;
    const missing = Math.max(0, view.numberOfReplicas - staying);
    if (missing === 0 || canPlaceMore(view, next, { bytes, disks, count: missing })) return next;
  }
  return replicas;
}

function isBrokenForLong({ brokenMs, place }: ReplicaView): boolean {
  return brokenMs !== undefined && brokenMs >= replaceAfterMs && place !== undefined && !place.isEvicted;
}

function evicted(replica: ReplicaView): ReplicaView {
  return replica.place === undefined ? replica : { ...replica, place: { ...replica.place, isEvicted: true } };
}
