import { isHealthy, type ReplicaView } from './volume-model.ts';

/**
 * Up to `count` of `candidates` that a volume can do without, the least valuable first. A replica with data is removed only while another one is
 * healthy: two replicas that can't be reached may both hold the only data, and which one comes back is not known.
 */
export function removableReplicas(
  candidates: readonly ReplicaView[],
  all: readonly ReplicaView[],
  count: number,
): readonly ReplicaView[] {
  const removed: ReplicaView[] = [];
  for (const replica of leastValuableFirst(candidates)) {
    if (removed.length >= count) break;
    const others = all.filter((other) => other !== replica && !removed.includes(other));
    if (isSpare(replica, others)) removed.push(replica);
  }
  return removed;
}

/** Whether the volume keeps its data without this replica. */
function isSpare({ hasData }: ReplicaView, others: readonly ReplicaView[]): boolean {
  return !hasData || others.some(isHealthy);
}

/** Orders replicas by health, then by name, so that two instances choose alike. */
function leastValuableFirst(replicas: readonly ReplicaView[]): readonly ReplicaView[] {
  return replicas.toSorted((a, b) => worthOf(a) - worthOf(b) || (a.name < b.name ? 1 : -1));
}

/** A replica that is being filled is worth more than one that has failed, and less than one whose data may come back. */
function worthOf({ health, hasData, place }: ReplicaView): number {
  if (place === undefined) return 0;
  if (health === 'healthy') return 4;
  if (health === 'unreachable') return hasData ? 3 : 1;
  return health === 'incomplete' ? 2 : 1;
}
