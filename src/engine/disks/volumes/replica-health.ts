import type { Replica } from '../../../kube/stowage/replica.ts';
import type { DiskState } from '../disk-state.ts';

/**
 * Whether the data of a replica can be used now. The controller, `stowage disks`, `stowage doctor`, the console and the metrics all decide with
 * `replicaHealth`, so that they agree.
 */
export type ReplicaHealth =
  /** All of its data was reported, and its disk and the agent of its node answer. */
  | 'healthy'
  /** Its agent, or the controller, has reported that its data can't be used. */
  | 'failed'
  /** Its disk is not ready, or the agent of its node does not answer. Its data may be complete. */
  | 'unreachable'
  /** It does not have all of its data yet. */
  | 'incomplete'
  | 'deleting';

/** `disk` is the state of the replica's disk; undefined if the disk has no DiskSchedule, or the replica has no disk. */
export function replicaHealth(
  { metadata, spec, status }: Pick<Replica, 'metadata' | 'spec' | 'status'>,
  disk: DiskState | undefined,
): ReplicaHealth {
  if (metadata?.deletionTimestamp !== undefined) return 'deleting';
  if (status?.failedAt !== undefined) return 'failed';
  if (spec?.diskID !== undefined && disk?.kind !== 'ready') return 'unreachable';
  return status?.healthyAt === undefined ? 'incomplete' : 'healthy';
}
