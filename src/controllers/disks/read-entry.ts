import type { Cluster } from '../../cluster/cluster.ts';
import { type DiskEntry, entryIn } from '../../engine/disks/volumes/volume-model.ts';
import { diskSchedules } from '../../kube/stowage/disk-schedule.ts';
import type { Replica } from '../../kube/stowage/replica.ts';
import { undefinedIfNotFound } from '../../kube/undefined-if-not-found.ts';

/** Reads the stored entry of a replica; undefined if the replica has no disk, or its disk no schedule. */
export async function readEntry(
  cluster: Cluster,
  { metadata, spec }: Replica,
  signal: AbortSignal,
): Promise<DiskEntry | undefined> {
  const { diskID: name = '' } = spec ?? {};
  if (name === '') return undefined;
  const schedule = await undefinedIfNotFound(cluster.resource(diskSchedules).get({ name }, { signal }));
  return schedule === undefined ? undefined : entryIn(schedule, metadata?.name ?? '');
}
